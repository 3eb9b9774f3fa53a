import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { flushesMax, openWalFile } from './wal-file.ts'

let folder: string
let path: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'guildhall-wal-'))
  path = join(folder, 'flushed.db')
  writeFileSync(`${path}-wal`, 'frames')
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the write-ahead log', () => {
  it.runIf(process.platform === 'linux')(
    '[O-DB-6] is opened once per flush, so that a failed write is reported to each of them',
    async () => {
      const wal = await openWalFile(path)
      expect(openings()).toBe(flushesMax)
      await wal.close()
      expect(openings()).toBe(0)
    },
  )

  it('[O-DB-6] runs no two flushes on one opening', async () => {
    const wal = await openWalFile(path)
    const flushes = Array.from({ length: flushesMax + 1 }, () => wal.flush())
    const outcomes = (await Promise.allSettled(flushes)).map(({ status }) => status)
    expect(outcomes).toEqual([...Array(flushesMax).fill('fulfilled'), 'rejected'])
    await wal.flush()
    await wal.close()
  })

  it('is closed only after the flushes that run', async () => {
    const wal = await openWalFile(path)
    const flushes = [wal.flush(), wal.flush()]
    await wal.close()
    expect((await Promise.allSettled(flushes)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
    ])
  })
})

/** How many descriptors of this process stand for the log. */
function openings(): number {
  return readdirSync('/proc/self/fd').filter((id) => targetOf(id) === `${path}-wal`).length
}

/** A descriptor may close between the listing and the look at it. */
function targetOf(id: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${id}`)
  } catch {
    return undefined
  }
}
