import type { Log } from '../log/log.ts'

/** Whether the disk of an embedded file is about to be full. */
export type DiskSpace = {
  /** Looks now, and answers whether space has just become low; to be called every 5 s. */
  check(): Promise<boolean>
  low(): boolean
}

type DiskSpaceDeps = {
  /** Bytes that this process may still write where the file is. */
  freeBytes(): Promise<number>
  minFreeBytes: number
  log: Log
}

export const diskSpaceIntervalMs = 5000

export function createDiskSpace({ freeBytes, minFreeBytes, log }: DiskSpaceDeps): DiskSpace {
  let low = false
  return {
    low: () => low,
    async check() {
      const free = await freeBytes()
      const wasLow = low
      low = free < minFreeBytes
      if (low === wasLow) return false
      const fields = { free_bytes: free, min_free_bytes: minFreeBytes }
      if (low) log.warn('the disk of the database is nearly full', fields)
      else log.info('the disk of the database has space again', fields)
      return low
    },
  }
}
