#!/bin/sh
# Starts the Node.js that lies beside it. Needs nothing on the PATH, and may be a link.
self=$0
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
home=$(CDPATH='' cd -P "${self%/*}/.." && pwd)
exec "$home/runtime/node" --max-semi-space-size=32 "$home/lib/main.mjs" "$@"
