import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import type { Incident } from '../errors/error-journal.ts'
import { createRecordedLog } from '../log/log.fake.ts'
import { createSupervisor } from './supervisor.ts'

function open() {
  const clock = createFakeClock({ startUnixMs: 1_763_700_000_000 })
  const incidents: Incident[] = []
  const journal = { record: (incident: Incident) => String(incidents.push(incident)) }
  const log = createRecordedLog()
  const supervisor = createSupervisor({ clock, log, journal })
  const state = () => supervisor.status()[0]?.state
  return { clock, incidents, log, supervisor, state }
}

const never = new Promise<void>(() => undefined)

describe('a task at intervals', () => {
  it('[O-HLT-3] counts as failing while one of its items does, and runs on undisturbed', async () => {
    const { clock, incidents, supervisor } = open()
    const startedMs: number[] = []
    let forMs = 0
    const items = { failingForMs: () => forMs, failures: () => 4 }
    supervisor.every('settlement', 1000, () => void startedMs.push(clock.monotonicMs()), items)
    await clock.advance(500)
    expect(supervisor.failing()).toEqual([])
    expect(supervisor.status()).toMatchObject([{ state: 'waiting', restarts: 4 }])
    forMs = 90
    expect(supervisor.failing()).toEqual([{ name: 'settlement', forMs: 90 }])
    expect(supervisor.status()).toMatchObject([{ name: 'settlement', state: 'backing_off' }])
    await clock.advance(2000)
    expect([startedMs, incidents]).toEqual([[0, 1000, 2000], []])
    forMs = 0
    expect(supervisor.failing()).toEqual([])
  })

  it('[O-HLT-3] reports the longer failure when both it and its items fail', async () => {
    const { clock, supervisor } = open()
    const items = { failingForMs: () => 90, failures: () => 4 }
    const fail = () => {
      throw new Error('database is down')
    }
    supervisor.every('settlement', 1000, fail, items)
    await clock.advance(10)
    expect(supervisor.failing()).toEqual([{ name: 'settlement', forMs: 90 }])
    await clock.advance(200)
    expect(supervisor.failing()).toEqual([{ name: 'settlement', forMs: 210 }])
    expect(supervisor.status()).toMatchObject([{ state: 'backing_off', restarts: 5 }])
  })

  it('[O-TSK-1] runs now, and again each time its interval has passed since its end', async () => {
    const { clock, supervisor } = open()
    const startedMs: number[] = []
    supervisor.every('retention', 1000, async () => {
      startedMs.push(clock.monotonicMs())
      await clock.sleep(500)
    })
    await clock.advance(3500)
    expect(startedMs).toEqual([0, 1500, 3000])
    expect(supervisor.failing()).toEqual([])
  })

  it('[O-TSK-1] is journalled and restarted after 1 s, doubling to 60 s, without end', async () => {
    const { clock, incidents, supervisor } = open()
    const startedMs: number[] = []
    const error = new Error('database is down')
    supervisor.every('retention', 100, () => {
      startedMs.push(clock.monotonicMs())
      throw error
    })
    await clock.advance(300_000)
    const delays = startedMs.slice(1).map((ms, index) => ms - (startedMs[index] ?? 0))
    expect(delays.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((sec) => sec * 1000))
    expect(incidents).toHaveLength(startedMs.length)
    expect(incidents[0]).toEqual({ category: 'task', component: 'retention', error })
    expect(supervisor.status()[0]).toMatchObject({ state: 'backing_off', restarts: 10 })
  })

  it('[O-TSK-1] starts again at 1 s after five minutes without a failure, not before', async () => {
    const { clock, supervisor } = open()
    const failedMs: number[] = []
    let isBroken = true
    supervisor.every('outbox', 1000, () => {
      if (!isBroken) return
      failedMs.push(clock.monotonicMs())
      throw new Error('broken')
    })
    const nextDelay = async () => {
      const { length } = failedMs
      isBroken = true
      await clock.advance(70_000)
      isBroken = false
      return (failedMs[length + 1] ?? 0) - (failedMs[length] ?? 0)
    }
    expect(await nextDelay()).toBe(1000)
    await clock.advance(120_000)
    expect(await nextDelay()).toBe(60_000)
    await clock.advance(400_000)
    expect(await nextDelay()).toBe(1000)
  })

  it('[O-TSK-1] doubles its pauses also when it fails after a long time of health', async () => {
    const { clock, supervisor } = open()
    const failedMs: number[] = []
    supervisor.every('outbox', 1000, () => {
      if (clock.monotonicMs() < 400_000) return
      failedMs.push(clock.monotonicMs())
      throw new Error('broken')
    })
    await clock.advance(407_000)
    expect(failedMs).toEqual([400_000, 401_000, 403_000, 407_000])
  })

  it('[O-HLT-3] is failing from its first failure until a run ends well', async () => {
    const { clock, supervisor } = open()
    let isBroken = true
    supervisor.every('scheduler', 1000, async ({ progress }) => {
      progress()
      if (isBroken) throw new Error('broken')
    })
    supervisor.every('outbox', 1000, () => undefined)
    await clock.advance(31_000)
    expect(supervisor.failing()).toEqual([{ name: 'scheduler', forMs: 31_000 }])
    isBroken = false
    await clock.advance(60_000)
    expect(supervisor.failing()).toEqual([])
  })

  it('wakes early, and once more when it is woken while it runs', async () => {
    const { clock, supervisor } = open()
    const startedMs: number[] = []
    const task = supervisor.every('scheduler', 60_000, async () => {
      startedMs.push(clock.monotonicMs())
      await clock.sleep(100)
    })
    await clock.advance(1000)
    task.wake()
    await clock.advance(50)
    task.wake()
    task.wake()
    await clock.advance(10_000)
    expect(startedMs).toEqual([0, 1000, 1100])
    // The waits that were cut short are over: what comes next comes an interval after the last end.
    await clock.advance(60_000)
    expect(startedMs).toEqual([0, 1000, 1100, 61_200])
  })

  it('is retried while it waits, and never runs twice at once', async () => {
    const { clock, supervisor } = open()
    const startedMs: number[] = []
    const task = supervisor.every('scheduler', 1000, async () => {
      startedMs.push(clock.monotonicMs())
      await clock.sleep(100)
    })
    await clock.advance(50)
    task.retry()
    await clock.advance(100)
    expect(startedMs).toEqual([0])
    task.retry()
    await clock.advance(1099)
    expect(startedMs).toEqual([0, 150])
  })

  it('cannot be woken out of its backing off', async () => {
    const { clock, supervisor, incidents } = open()
    const task = supervisor.every('scheduler', 1000, () => Promise.reject(new Error('broken')))
    await clock.advance(0)
    task.wake()
    await clock.advance(999)
    expect(incidents).toHaveLength(1)
  })

  it('[O-FLT-3] leaves its backing off at once when what it needs is back', async () => {
    const { clock, supervisor } = open()
    let isBroken = true
    const runs: number[] = []
    const task = supervisor.every('revocations', 500, () => {
      if (isBroken) throw new Error('the database is down')
      runs.push(clock.monotonicMs())
    })
    await clock.advance(20_000)
    isBroken = false
    task.retry()
    await clock.advance(0)
    expect(runs).toEqual([20_000])
    expect(supervisor.failing()).toEqual([])
    await clock.advance(500)
    expect(runs).toEqual([20_000, 20_500])
  })
})

describe('a task that lasts', () => {
  it('[O-TSK-1] is journalled and restarted when it ends without being asked', async () => {
    const { clock, incidents, supervisor } = open()
    let runs = 0
    supervisor.run('revocations', 1000, async () => {
      runs += 1
    })
    await clock.advance(999)
    expect(runs).toBe(1)
    await clock.advance(1)
    expect(runs).toBe(2)
    expect(incidents[0]).toEqual({
      category: 'task_ended',
      component: 'revocations',
      place: 'revocations',
    })
  })

  it('[O-HLT-3] is well again once it has held out for 10 s, not as soon as it starts', async () => {
    const { clock, supervisor } = open()
    let runs = 0
    supervisor.run('node-claim', 60_000, async ({ signal }) => {
      runs += 1
      if (runs === 1) throw new Error('broken')
      await clock.sleep(1_000_000, signal)
    })
    await clock.advance(10_999)
    expect(supervisor.failing()).toEqual([{ name: 'node-claim', forMs: 10_999 }])
    await clock.advance(1)
    expect(supervisor.failing()).toEqual([])
  })
})

describe('a task without progress', () => {
  it('[O-TSK-2] is stalled after 3 intervals + 30 s: cancelled, counted, restarted', async () => {
    const { clock, incidents, supervisor, state } = open()
    const signals: AbortSignal[] = []
    supervisor.every('settlement', 1000, ({ signal }) => {
      signals.push(signal)
      return never
    })
    await clock.advance(32_999)
    expect([state(), signals[0]?.aborted]).toEqual(['running', false])
    await clock.advance(1)
    expect([state(), signals[0]?.aborted]).toEqual(['stalled', true])
    expect(incidents).toMatchObject([{ category: 'task_stalled', component: 'settlement' }])
    expect(supervisor.failing()).toEqual([{ name: 'settlement', forMs: 0 }])
    await clock.advance(1000)
    expect([state(), signals.length, signals[1]?.aborted]).toEqual(['running', 2, false])
    expect(supervisor.status()[0]?.restarts).toBe(1)
  })

  it('[O-TSK-2] is not stalled while it reports progress, but as long after the last', async () => {
    const { clock, incidents, supervisor, state } = open()
    supervisor.every('retention', 1000, async ({ progress }) => {
      for (let batch = 0; batch < 20; batch += 1) {
        await clock.sleep(30_000)
        progress()
      }
      await never
    })
    await clock.advance(600_000 + 32_999)
    expect([state(), incidents]).toEqual(['running', []])
    await clock.advance(1)
    expect(state()).toBe('stalled')
  })

  it.each([
    ['well', (): undefined => undefined],
    ['badly', (): Promise<void> => Promise.reject(new Error('cancelled'))],
  ] as const)('[O-TSK-2] is not heard when it ends %s before its restart', async (_how, end) => {
    const { clock, incidents, supervisor, state } = open()
    supervisor.every('settlement', 1000, async ({ signal }) => {
      await clock.sleep(1_000_000, signal).catch(() => undefined)
      return end()
    })
    await clock.advance(33_999)
    expect([state(), incidents.length]).toEqual(['stalled', 1])
    expect(supervisor.failing()).toEqual([{ name: 'settlement', forMs: 999 }])
    await clock.advance(1)
    expect([state(), incidents.length]).toEqual(['running', 1])
  })

  it.each(['well', 'badly'] as const)(
    '[O-TSK-2] does no harm when it ends late, %s, neither to the next run nor to a stop',
    async (how) => {
      const { clock, incidents, supervisor, state } = open()
      const ends: { well: () => void; badly: () => void }[] = []
      supervisor.every('settlement', 1000, () => {
        return new Promise<void>((well, reject) => {
          ends.push({ well, badly: () => reject(new Error('too late')) })
        })
      })
      await clock.advance(33_000 + 1000 + 33_000 + 2000)
      expect([state(), ends.length, incidents.length]).toEqual(['running', 3, 2])
      ends[0]?.[how]()
      await clock.advance(100)
      expect([state(), ends.length, incidents.length]).toEqual(['running', 3, 2])

      let hasStopped = false
      void supervisor.stop(60_000).then(() => {
        hasStopped = true
      })
      ends[1]?.[how]()
      await clock.advance(100)
      expect(hasStopped).toBe(false)
      ends[2]?.well()
      await clock.advance(0)
      expect(hasStopped).toBe(true)
    },
  )
})

describe('the status of tasks', () => {
  it('[O-HLT-5] says when each ran last and runs next', async () => {
    const { clock, supervisor } = open()
    const startUnixMs = clock.nowUnixMs()
    supervisor.every('retention', 60_000, () => undefined)
    supervisor.run('revocations', 1000, () => never)
    await clock.advance(10)
    expect(supervisor.status()).toEqual([
      {
        name: 'retention',
        state: 'waiting',
        restarts: 0,
        last_run_unix_ms: startUnixMs,
        next_start_unix_ms: startUnixMs + 60_000,
      },
      {
        name: 'revocations',
        state: 'running',
        restarts: 0,
        last_run_unix_ms: startUnixMs,
        next_start_unix_ms: null,
      },
    ])
  })

  it('[O-HLT-3] shows a loop that heals itself beside the tasks', () => {
    const { supervisor, state } = open()
    let forMs = 0
    supervisor.adopt('write-behind', { failingForMs: () => forMs, failures: () => 3 })
    expect([supervisor.failing(), state()]).toEqual([[], 'waiting'])
    forMs = 31_000
    expect(supervisor.failing()).toEqual([{ name: 'write-behind', forMs: 31_000 }])
    expect(supervisor.status()[0]).toMatchObject({ state: 'backing_off', restarts: 3 })
    expect(() => supervisor.every('write-behind', 1, () => undefined)).toThrow('two tasks')
  })
})

describe('stopping', () => {
  it('[O-STP-2] asks every task to end, waits for it, and starts nothing more', async () => {
    const { clock, incidents, supervisor } = open()
    const seen: string[] = []
    supervisor.run('revocations', 1000, async ({ signal }) => {
      seen.push('started')
      await clock.sleep(1_000_000, signal).catch(() => undefined)
      await clock.sleep(100)
      seen.push('ended')
    })
    supervisor.every('retention', 1000, () => void seen.push('pass'))
    await clock.advance(10)
    const stopped = supervisor.stop(5000)
    await clock.advance(100)
    expect(await stopped).toEqual([])
    await clock.advance(100_000)
    expect(seen).toEqual(['started', 'pass', 'ended'])
    expect(incidents).toEqual([])
    expect(supervisor.status().map((task) => task.state)).toEqual(['stopped', 'stopped'])
    expect(clock.timersWaiting()).toBe(0)
  })

  it.each([
    ['ends well', (): undefined => undefined],
    ['fails', (): Promise<void> => Promise.reject(new Error('cancelled'))],
  ] as const)('[O-STP-2] is the end also for a run at work that then %s', async (_how, end) => {
    const { clock, incidents, supervisor, state } = open()
    let runs = 0
    supervisor.every('retention', 1000, async () => {
      runs += 1
      await clock.sleep(500)
      return end()
    })
    await clock.advance(10)
    const stopped = supervisor.stop(5000)
    await clock.advance(500)
    expect([await stopped, clock.timersWaiting()]).toEqual([[], 0])
    await clock.advance(100_000)
    expect([state(), runs, incidents, clock.timersWaiting()]).toEqual(['stopped', 1, [], 0])
  })

  it('[O-STP-3] names the tasks that do not end in time', async () => {
    const { clock, log, supervisor } = open()
    supervisor.run('outbox', 1000, () => never)
    supervisor.run('scheduler', 1000, ({ signal }) => {
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      )
    })
    await clock.advance(0)
    const stopped = supervisor.stop(5000)
    await clock.advance(5000)
    expect(await stopped).toEqual(['outbox'])
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { tasks: ['outbox'] } }])
  })
})
