/** All that is used of it; the package has no types of its own. */
declare module 'tar-fs' {
  import type { Readable, Writable } from 'node:stream'
  export function extract(folder: string): Writable
  export function pack(
    folder: string,
    options: {
      dereference?: boolean
      ignore?: (path: string) => boolean
      map?: (header: { name: string }) => { name: string; mtime?: Date; uid?: number }
      /** Of the names in a folder. */
      sort?: boolean
    },
  ): Readable
}
