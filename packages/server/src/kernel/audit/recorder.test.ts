import { utf8Bytes } from '@guildhall/contract'
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

const event: AuditEvent = {
  actor_type: 'human',
  actor: 'ada',
  role: 'admin',
  action: 'groups.create',
  target: '7',
  details: 'name=red',
}

function openRecorder(ringCapacity = 3) {
  const clock = createFakeClock()
  const ids = createIds({ clock, nodeId: 'test', bootId: 'bt1-test' })
  const queued: RecordedEvent[] = []
  const enqueue = (recorded: RecordedEvent) => void queued.push(recorded)
  return { clock, queued, recorder: createAuditRecorder({ clock, ids, ringCapacity, enqueue }) }
}

const everything = () => true

describe('the audit recorder', () => {
  it('[H-AUD-5] cuts targets at 1,024 bytes and details at 512, at a character’s boundary', () => {
    const { recorder } = openRecorder()
    const long = `${'x'.repeat(509)}🏰🏰${'é'.repeat(600)}`
    const { target, details } = recorder.prepare({ ...event, target: long, details: long })
    expect(details).toBe('x'.repeat(509))
    expect(target).toBe(`${'x'.repeat(509)}🏰🏰${'é'.repeat(253)}`)
    expect(utf8Bytes(target)).toBe(1023)
  })

  it('[H-AUD-5] turns control characters into question marks', () => {
    const { recorder } = openRecorder()
    const dirty = 'a\u0000b\nc\u001bd\u007fe\u0085f\u009fg\u00a0h'
    const { actor, target, details } = recorder.prepare({
      ...event,
      actor: dirty,
      target: dirty,
      details: dirty,
    })
    for (const text of [actor, target, details]) expect(text).toBe('a?b?c?d?e?f?g\u00a0h')
  })

  it('[H-AUD-5] keeps the longest beginning that fits', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 0, max: 40 }),
        (text, bytesMax) => {
          const kept = clean(text, bytesMax)
          const whole = [...text.replace(/\p{Cc}/gu, '?')]
          const characters = [...kept]
          expect(whole.slice(0, characters.length)).toEqual(characters)
          expect(utf8Bytes(kept)).toBeLessThanOrEqual(bytesMax)
          const next = whole[characters.length]
          if (next !== undefined) expect(utf8Bytes(kept + next)).toBeGreaterThan(bytesMax)
        },
      ),
    )
  })

  it('[H-AUD-1] gives each event an id that sorts by time, and its time', async () => {
    const { recorder, clock } = openRecorder()
    const ids = []
    for (let i = 0; i < 300; i += 1) {
      if (i % 100 === 0) await clock.advance(1)
      const { id, time_unix_ms } = recorder.prepare(event)
      expect(id).toMatch(/^au1-[0-9a-f]{29}$/)
      expect(time_unix_ms).toBe(clock.nowUnixMs())
      ids.push(id)
    }
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(300)
  })

  it('[H-AUD-9] keeps the newest in its ring and hands every one to the queue', () => {
    const { recorder, queued } = openRecorder(3)
    for (const actor of ['a', 'b', 'c', 'd']) recorder.record({ ...event, actor })
    expect(recorder.newest(10, everything).map(({ actor }) => actor)).toEqual(['d', 'c', 'b'])
    expect(recorder.newest(2, everything).map(({ actor }) => actor)).toEqual(['d', 'c'])
    expect(recorder.newest(1, ({ actor }) => actor < 'd').map(({ actor }) => actor)).toEqual(['c'])
    expect([recorder.retained(), recorder.capacity]).toEqual([3, 3])
    expect(queued.map(({ actor }) => actor)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('[H-AUD-7] keeps what is ring-only from the queue', () => {
    const { recorder, queued } = openRecorder()
    recorder.record(event, { ringOnly: true })
    expect([recorder.retained(), queued.length]).toEqual([1, 0])
  })

  it('[H-AUD-2] shows an event of a transaction only once it has committed', () => {
    const { recorder, queued } = openRecorder()
    const prepared = recorder.prepare(event)
    expect([recorder.retained(), queued.length]).toEqual([0, 0])
    recorder.committed(prepared)
    expect(recorder.newest(1, everything)).toEqual([prepared])
    expect(queued).toEqual([])
  })

  it('[H-AUD-3] records of an API key its id, name and scopes, and of its read the template only', () => {
    const key = {
      kind: 'api_key',
      credential_id: '0'.repeat(32),
      key_name: 'ci',
      scopes: ['groups:read'],
      generation: 3,
    } as const
    const path = '/console/v1/groups/{id}'
    const route = {
      method: 'GET',
      path,
      access: 'operator',
      scope: 'groups:read',
      summary: '',
    } as const
    expect(keyReadEvent(key, route, 'HEAD')).toEqual({
      actor_type: 'api_key',
      actor: key.credential_id,
      role: 'api_key',
      credential_id: key.credential_id,
      key_name: 'ci',
      scopes: ['groups:read'],
      action: 'console.read',
      target: path,
      details: `method=HEAD path=${path}`,
    })
    expect(actorOf({ kind: 'human', username: 'ada', role: 'viewer' })).toEqual({
      actor_type: 'human',
      actor: 'ada',
      role: 'viewer',
    })
  })
})
