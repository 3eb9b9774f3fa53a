import { expect, it } from 'vitest'
import { createRecordedLog } from '../log/log.fake.ts'
import { createDiskSpace } from './disk-space.ts'

it('[O-DSK-3] says when space is low, calls for retention once, and sees it come back', async () => {
  const log = createRecordedLog()
  const disk = { free: 1000 }
  const space = createDiskSpace({
    freeBytes: async () => disk.free,
    minFreeBytes: 1000,
    log,
  })
  const at = async (free: number) => {
    disk.free = free
    const becameLow = await space.check()
    return [space.low(), becameLow]
  }
  expect(space.low()).toBe(false)
  expect(await at(1000)).toEqual([false, false])
  expect(await at(999)).toEqual([true, true])
  expect(await at(0)).toEqual([true, false])
  expect(await at(1000)).toEqual([false, false])
  expect(await at(999)).toEqual([true, true])
  expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'info', 'warn'])
})
