import { consoleApi } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../clock.fake.ts'
import { createIds } from '../ids.ts'
import {
  type AuditEvent,
  actorOf,
  clean,
  createAuditRecorder,
  keyReadEvent,
  type RecordedEvent,
} from './recorder.ts'

function open(ringCapacity = 3) {
  const clock = createFakeClock()
  const queued: RecordedEvent[] = []
  const recorder = createAuditRecorder({
    clock,
    ids: createIds({ clock, nodeId: 'n', bootId: 'bt1-0' }),
    ringCapacity,
    enqueue: (event) => void queued.push(event),
  })
  return { clock, queued, recorder }
}

const event: AuditEvent = {
  actor_type: 'human',
  actor: 'root',
  role: 'admin',
  action: 'groups.create',
  target: 'group 1',
  details: 'name=red',
}

describe('the recorder', () => {
  it('[H-AUD-5] gives an event its id and time, and puts it into ring and queue', () => {
    const { clock, queued, recorder } = open()
    recorder.record(event)
    const expected = {
      ...event,
      id: expect.stringMatching(/^au1-[0-9a-f]{29}$/),
      time_unix_ms: clock.nowUnixMs(),
    }
    expect(queued).toEqual([expected])
    expect(recorder.newest(10, () => true)).toEqual([expected])
  })

  it('[H-AUD-7] keeps reads of the trail itself out of the queue when it is told to', () => {
    const { queued, recorder } = open()
    recorder.record(event, { ringOnly: true })
    expect([queued.length, recorder.retained()]).toEqual([0, 1])
  })

  it('[H-AUD-6] works without a queue', () => {
    const clock = createFakeClock()
    const ids = createIds({ clock, nodeId: 'n', bootId: 'bt1-0' })
    const recorder = createAuditRecorder({ clock, ids, ringCapacity: 2 })
    recorder.record(event)
    expect(recorder.retained()).toBe(1)
  })

  it('[H-AUD-8] holds the newest events only, newest first, and finds among them', () => {
    const { recorder } = open(3)
    for (const actor of ['a', 'b', 'a', 'b', 'a']) recorder.record({ ...event, actor })
    const all = recorder.newest(10, () => true)
    expect(all.map(({ actor }) => actor)).toEqual(['a', 'b', 'a'])
    expect([recorder.retained(), recorder.capacity]).toEqual([3, 3])
    expect(recorder.newest(1, ({ actor }) => actor === 'a')).toEqual([all[0]])
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    )
  })

  it('[H-AUD-5] puts a prepared event into the ring when its transaction has committed, not before', () => {
    const { queued, recorder } = open()
    const prepared = recorder.prepare(event)
    expect(recorder.retained()).toBe(0)
    recorder.committed(prepared)
    expect(recorder.newest(1, () => true)).toEqual([prepared])
    expect(queued).toEqual([])
  })

  it('[H-AUD-5] cleans what it keeps: no control characters, bounded lengths', () => {
    const { queued, recorder } = open()
    const long = `a\n\u0000\u0085${'é'.repeat(2000)}`
    recorder.record({ ...event, actor: long, target: long, details: long })
    const [kept] = queued
    expect(kept?.actor.startsWith('a???é')).toBe(true)
    expect(
      [kept?.actor, kept?.target, kept?.details].map((text) => Buffer.byteLength(text ?? '')),
    ).toEqual([1024, 1024, 512])
  })
})

describe('clean', () => {
  it('[H-AUD-5] never exceeds its bound, splits no character and leaves no control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 64 }), (text, bytesMax) => {
        const kept = clean(text, bytesMax)
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(bytesMax)
        expect(kept).not.toMatch(/\p{Cc}/u)
        expect(text.replace(/\p{Cc}/gu, '?').startsWith(kept)).toBe(true)
      }),
    )
  })
})

describe('API keys', () => {
  const key = {
    kind: 'api_key',
    credential_id: 'c0ffee',
    key_name: 'ci',
    scopes: ['audit:read'],
    generation: 2,
  } as const

  it('[H-AUTH-5] are recorded with id, name and scopes, method and route path, and nothing of the request', () => {
    expect(keyReadEvent(key, consoleApi.me)).toEqual({
      actor_type: 'api_key',
      actor: 'c0ffee',
      role: 'api_key',
      credential_id: 'c0ffee',
      key_name: 'ci',
      scopes: ['audit:read'],
      action: 'console.read',
      target: '/console/v1/me',
      details: 'method=GET path=/console/v1/me',
    })
  })

  it('[H-AUTH-5] are told from people', () => {
    expect(actorOf({ kind: 'human', username: 'eye', role: 'viewer' })).toEqual({
      actor_type: 'human',
      actor: 'eye',
      role: 'viewer',
    })
  })
})
