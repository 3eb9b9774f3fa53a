import { describe, expect, it } from 'vitest'
import { createFakeClock } from './clock.fake.ts'
import { createRecordedLog } from './log.fake.ts'
import { createRetention } from './retention.ts'

function setup(pruners: Record<string, (items: number) => Promise<number>>) {
  const clock = createFakeClock()
  const pass = createRetention({ pruners, batchItems: 100, clock, log: createRecordedLog() })
  return { clock, pass }
}

/** Data with `rows` rows past their time. */
function data(rows: number) {
  const batches: number[] = []
  let left = rows
  const prune = async (items: number) => {
    const deleted = Math.min(items, left)
    left -= deleted
    batches.push(deleted)
    return deleted
  }
  return { prune, batches, left: () => left }
}

describe('retention', () => {
  it('[O-RET-1] goes on in batches until one comes back short', async () => {
    const sessions = data(250)
    const { clock, pass } = setup({ sessions: sessions.prune })
    const done = pass()
    await clock.advance(1000)
    await done
    expect(sessions.batches).toEqual([100, 100, 50])
  })

  it('[O-RET-2] a failure in one kind of data does not stop the others', async () => {
    const audit = data(5)
    const failing = async () => {
      throw new Error('no such luck')
    }
    const { pass } = setup({ sessions: failing, audit: audit.prune })
    await expect(pass()).rejects.toThrow('retention did not complete')
    expect(audit.left()).toBe(0)
  })

  it('[O-RET-3] halves the batch when one takes too long', async () => {
    const sizes: number[] = []
    const clock = createFakeClock()
    const slow = async (items: number) => {
      sizes.push(items)
      await clock.sleep(60)
      return sizes.length < 3 ? items : 0
    }
    const pass = createRetention({
      pruners: { slow },
      batchItems: 100,
      clock,
      log: createRecordedLog(),
    })
    const done = pass()
    await clock.advance(1000)
    await done
    expect(sizes).toEqual([100, 50, 25])
  })
})
