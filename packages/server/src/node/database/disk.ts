import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { createDiskSpace, type DiskSpace } from '../../kernel/host/disk-space.ts'
import type { Log } from '../../kernel/log/log.ts'

/** Of the disk that an embedded file lies on; undefined on other backends, or when switched off. */
export function createDiskWatch({ database }: Config, log: Log): DiskSpace | undefined {
  const { url, min_free_bytes } = database
  if (url === undefined || !url.startsWith('sqlite:') || min_free_bytes === 0) return undefined
  const folder = dirname(url.slice('sqlite:'.length))
  return createDiskSpace({
    async freeBytes() {
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize
    },
    minFreeBytes: min_free_bytes,
    log: log.component('disk'),
  })
}
