import { expect, it } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { type ProcessEvents, ProcessGroup } from './process-group.ts'

/** A group whose processes a test plays. */
function open({ count = 2, arePortsKnown = true } = {}) {
  const clock = createFakeClock()
  const started: number[] = []
  const signals: string[] = []
  const said: string[] = []
  const events = new Map<number, ProcessEvents>()
  const binds: unknown[] = []
  const group = new ProcessGroup({
    count,
    clock,
    binds: arePortsKnown ? { http: 'h:1', quic: 'q:1' } : undefined,
    bindsOf: ({ url }) => ({ http: url, quic: 'q:2' }),
    start(number, known, own) {
      started.push(number)
      binds.push(known?.http)
      events.set(number, own)
      return {
        signal: (signal) => signals.push(`${number} ${signal}`),
        hangUp: () => signals.push(`${number} SIGHUP`),
      }
    },
    onReady: (all) => said.push(`ready ${all.map(({ node_id }) => node_id).join()}`),
    onDied: (number, code, delayMs) => said.push(`${number} ended with ${code}, ${delayMs}`),
  })
  const facts = { url: 'h:2', transportAddresses: {}, backend: '', boot_id: '', entrypoint: null }
  return {
    ...{ group, clock, started, signals, said, binds },
    code: group.run(),
    ready: (number: number) => events.get(number)?.ready({ ...facts, node_id: `n-${number}` }),
    end: (number: number, code: number) => events.get(number)?.ended(code),
  }
}

it('[O-NOD-5] is ready once, when all are', () => {
  const { started, said, ready } = open({ count: 3 })
  expect(started).toEqual([1, 2, 3])
  ready(2)
  ready(1)
  expect(said).toEqual([])
  ready(3)
  expect(said).toEqual(['ready n-1,n-2,n-3'])
})

it('[O-NOD-5] starts the others on the port that the first has got', () => {
  const { started, binds, ready } = open({ count: 3, arePortsKnown: false })
  expect(started).toEqual([1])
  ready(1)
  expect(started).toEqual([1, 2, 3])
  expect(binds).toEqual([undefined, 'h:2', 'h:2'])
})

it('[O-NOD-5] tries the next one where the first cannot start and no port is known', async () => {
  const { started, clock, ready, end } = open({ count: 3, arePortsKnown: false })
  end(1, 1)
  expect(started).toEqual([1, 2])
  await clock.advance(1000)
  expect(started).toEqual([1, 2])
  ready(2)
  expect(started).toEqual([1, 2, 1, 3])
})

it('[O-NOD-5] starts one that died again after 1 s, doubling to 30 s, and from 1 s after 60 s', async () => {
  const { started, said, clock, ready, end } = open()
  ready(1)
  ready(2)
  said.length = 0
  for (const delayMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    end(1, 137)
    expect(said.pop()).toBe(`1 ended with 137, ${delayMs}`)
    const before = started.length
    await clock.advance(delayMs - 1)
    expect(started.length).toBe(before)
    await clock.advance(1)
    expect(started.length).toBe(before + 1)
    ready(1)
  }
  await clock.advance(60_000)
  end(1, 137)
  expect(said.pop()).toBe('1 ended with 137, 1000')
  expect(said).toEqual([])
})

it('[O-NOD-5] passes signals on, and ends with the first exit code that is not 0', async () => {
  const { group, signals, code, ready, end } = open({ count: 3 })
  for (const number of [1, 2, 3]) ready(number)
  group.hangUp()
  group.signal('SIGTERM')
  group.signal('SIGINT')
  expect(signals).toEqual(
    ['SIGHUP', 'SIGTERM', 'SIGINT'].flatMap((name) => [1, 2, 3].map((at) => `${at} ${name}`)),
  )
  end(2, 0)
  end(3, 143)
  end(1, 1)
  expect(await code).toBe(143)
})

it('[O-NOD-5] ends with 0 also while one waits to be started again', async () => {
  const { group, started, clock, code, ready, end } = open()
  ready(1)
  ready(2)
  end(1, 137)
  group.signal('SIGTERM')
  end(2, 0)
  expect(await code).toBe(0)
  await clock.advance(60_000)
  expect(started).toEqual([1, 2])
})

it('[O-NOD-5] ends when none can start', async () => {
  const { started, signals, clock, code, end } = open()
  end(1, 4)
  await clock.advance(1000)
  expect(started).toEqual([1, 2, 1])
  end(2, 2)
  expect(signals).toEqual(['1 SIGTERM'])
  end(1, 0)
  expect(await code).toBe(4)
})

it('[O-NOD-5] goes on while one of them serves, however often the other fails', async () => {
  const { group, said, clock, code, ready, end } = open()
  ready(1)
  for (let count = 0; count < 5; count += 1) {
    end(2, 4)
    await clock.advance(30_000)
  }
  expect(said).toHaveLength(5)
  group.signal('SIGTERM')
  end(1, 0)
  end(2, 0)
  expect(await code).toBe(0)
})
