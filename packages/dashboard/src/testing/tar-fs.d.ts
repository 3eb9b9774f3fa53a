/** All that is used of it; the package has no types of its own. */
declare module 'tar-fs' {
  import type { Writable } from 'node:stream'
  export function extract(folder: string): Writable
}
