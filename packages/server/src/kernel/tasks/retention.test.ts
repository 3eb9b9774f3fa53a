import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { LeaseLost, type Transact } from './lease.ts'
import { createPruneCounts, createRetention } from './retention.ts'

/** A run that nobody ends. */
const freely = { signal: new AbortController().signal, progress: () => undefined }

type Prune = (items: number, transact?: Transact<string>) => Promise<number>

/** A lease that is always held; its transactions run at once. */
const ownLease = {
  keep: async () => true,
  transaction: <T>(body: (tx: string) => Promise<T>) => body('fenced'),
}

function setup(pruners: Record<string, Prune>, lease = ownLease, onHold = () => false) {
  const clock = createFakeClock()
  const counts = createPruneCounts(Object.keys(pruners))
  const log = createRecordedLog()
  const pass = createRetention({ pruners, lease, batchItems: 100, clock, log, counts, onHold })
  return { clock, pass, counts }
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
    const sessions = data(1050)
    const { clock, pass } = setup({ sessions: sessions.prune })
    const done = pass(freely)
    await clock.advance(1000)
    await done
    // None of them takes long, so none is smaller, however long all of them take.
    expect(sessions.batches).toEqual([...Array<number>(10).fill(100), 50])
  })

  it('[O-RET-1] gets on with every batch, and ends behind the present one when asked to', async () => {
    const [sessions, audit] = [data(1000), data(1000)]
    const { clock, pass } = setup({ sessions: sessions.prune, audit: audit.prune })
    const end = new AbortController()
    let progress = 0
    const run = {
      signal: end.signal,
      progress() {
        progress += 1
        if (progress === 3) end.abort()
      },
    }
    const done = pass(run)
    await clock.advance(1000)
    await done
    expect(progress).toBe(3)
    expect(sessions.left()).toBe(700)
    expect(audit.left()).toBe(1000)
  })

  it('[O-RET-2] a failure in one kind of data does not stop the others', async () => {
    const audit = data(5)
    const failing = async () => {
      throw new Error('no such luck')
    }
    const { pass } = setup({ sessions: failing, audit: audit.prune })
    await expect(pass(freely)).rejects.toThrow('retention did not complete')
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
      lease: ownLease,
      batchItems: 100,
      clock,
      log: createRecordedLog(),
      counts: createPruneCounts([]),
    })
    const done = pass(freely)
    await clock.advance(1000)
    await done
    expect(sizes).toEqual([100, 50, 25])
  })

  it('[O-RET-1] leaves a pass to the node that holds the lease', async () => {
    const sessions = data(5)
    const { pass } = setup({ sessions: sessions.prune }, { ...ownLease, keep: async () => false })
    await pass(freely)
    expect(sessions.batches).toEqual([])
  })

  it('[O-HLT-5] counts what it removed, and says what it is behind with', async () => {
    const [sessions, audit] = [data(250), data(0)]
    let broken = true
    const fragile = async () => {
      if (broken) throw new Error('no such luck')
      return 7
    }
    const { clock, pass, counts } = setup({ fragile, sessions: sessions.prune, audit: audit.prune })
    const behind = () =>
      counts
        .list()
        .filter((it) => it.behind)
        .map((it) => it.data)
    expect([counts.list().length, behind()]).toEqual([3, []])
    const done = pass(freely).catch(() => undefined)
    await clock.advance(5)
    expect(behind()).toEqual(['fragile', 'sessions'])
    await clock.advance(1000)
    await done
    expect(counts.list()).toEqual([
      { data: 'fragile', pruned_total: 0, behind: true },
      { data: 'sessions', pruned_total: 250, behind: false },
      { data: 'audit', pruned_total: 0, behind: false },
    ])
    broken = false
    await pass(freely)
    expect(counts.list()[0]).toEqual({ data: 'fragile', pruned_total: 7, behind: false })
  })

  it('[O-CLK-2] deletes nothing while the clock may be wrong', async () => {
    const sessions = data(250)
    const hold = { on: true }
    const { clock, pass } = setup({ sessions: sessions.prune }, ownLease, () => hold.on)
    await pass(freely)
    expect(sessions.batches).toEqual([])
    hold.on = false
    const done = pass(freely)
    await clock.advance(5)
    hold.on = true
    await clock.advance(1000)
    await done
    expect(sessions.batches).toEqual([100, 100])
  })

  it('[O-SCH-2] deletes under the lease, and ends the pass when it is lost', async () => {
    const seen: string[] = []
    const prune = async (name: string, transact: Transact<string> | undefined) => {
      await transact?.(async (tx) => void seen.push(`${name} ${tx}`))
      return 0
    }
    const transaction = <T>(body: (tx: string) => Promise<T>) => {
      if (seen.length === 2) throw new LeaseLost('taken by another node')
      return body('fenced')
    }
    const { pass } = setup(
      Object.fromEntries(
        ['a', 'b', 'c', 'd'].map((name) => [name, (_, transact) => prune(name, transact)]),
      ),
      { ...ownLease, transaction },
    )
    await pass(freely)
    expect(seen).toEqual(['a fenced', 'b fenced'])
  })
})
