import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandNames } from '../functions/arguments.ts'
import { hookCode } from '../wire/hooks.ts'
import { visitOutput } from '../wire/output-records.ts'
import { answerEnding } from './handlers.ts'
import { newInvocation } from './invocation.ts'
import { Output } from './output.ts'
import { ownCall } from './own-call.ts'

type Step = Adding | { do: 'commit' | 'rollback' | 'move' }
type Adding =
  | { do: 'send'; kind: number; unreliable: boolean; participant: number; body: number }
  | {
      do: 'broadcast'
      kind: number
      sender: number
      room_id: number | null
      except: number[]
      topic: string | undefined
      body: number
    }
  | { do: 'done'; id: number; text: string | undefined; body: number }
  | { do: 'command'; name: number; text: string; id: number; room_id: number | null; body: number }

const bodies = [new Uint8Array(0), new Uint8Array([1, 2, 3]), new Uint8Array(300).fill(7), 'grüße']
const body = fc.nat({ max: bodies.length - 1 })
const kind = fc.constantFrom(2, 100, 65_535)
const id = fc.nat({ max: Number.MAX_SAFE_INTEGER })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      kind,
      unreliable: fc.boolean(),
      participant: id,
      body,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('broadcast' as const),
      kind,
      sender: id,
      room_id: fc.option(id),
      except: fc.array(id, { maxLength: 3 }),
      topic: fc.option(fc.string(), { nil: undefined }),
      body,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('done' as const),
      id,
      text: fc.option(fc.string(), { nil: undefined }),
      body,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('command' as const),
      name: fc.nat({ max: commandNames.length - 1 }),
      text: fc.string(),
      id,
      room_id: fc.option(id),
      body: fc.constant(0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('commit' as const, 'rollback' as const, 'move' as const),
    }),
  },
)

/** One delivery each, so that sends that share a body compare equal to sends that do not. */
type Effect = (string | number | boolean | null | undefined)[]

const hex = (bytes: Uint8Array | string | undefined) => Buffer.from(bytes ?? '').toString('hex')

describe('output', () => {
  it('[S-WP-1] [S-INV-4] arrives as it was committed: order, bodies and receivers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const output = new Output()
        let committed: Effect[] = []
        let provisional: Effect[] = []
        for (const step of steps) {
          if ('body' in step) {
            provisional.push(...apply(output, step))
          } else if (step.do === 'commit') {
            output.commit(undefined, 'settled')
            committed = [...committed, ...provisional]
            provisional = []
          } else if (step.do === 'rollback') {
            output.rollback()
            provisional = []
          } else if (provisional.every(([what]) => what !== 'done')) {
            // Records that end an invocation are never moved.
            const other = new Output()
            output.moveTail(other)
            other.moveAll(output)
          }
        }
        output.rollback()
        expect(effects(output)).toEqual(committed)
      }),
      { numRuns: 300 },
    )
  })

  it('has no bytes of a reply that the node has already', () => {
    const output = new Output()
    const call = { ...ownCall, id: 5, hook: hookCode.on_rpc }
    const ending = (answered: Uint8Array, reply: Uint8Array | string) =>
      answerEnding({ call, answered: { call: 9, bytes: answered } }, reply, output)
    const bytes = new Uint8Array(300).fill(7)
    const handed = ending(bytes, Uint8Array.from(bytes))
    expect(handed).toEqual({ status: 0, length: 0, handed: 9 })
    output.done(5, 0, { cpuUs: 1, ...handed })
    for (const other of ['a text', bytes.subarray(1), Uint8Array.from(bytes).fill(8, 299)]) {
      expect(ending(bytes, other)).toEqual({ status: 0, length: other.length })
    }
    expect(effects(output)).toEqual([['done', 5, 9, undefined]])
  })

  it('keeps a committed invocation committed', () => {
    const output = new Output()
    const invocation = newInvocation(undefined, { startedMs: 0, deadlineMs: 100 })
    output.commit(invocation, 'settled')
    expect(invocation.state).toBe('settled')
    expect(output.isEmpty).toBe(true)
  })
})

function apply(output: Output, step: Adding): Effect[] {
  const sent = bodies[step.body] ?? ''
  switch (step.do) {
    case 'send': {
      if (output.joinable(step.kind, sent, step.unreliable) >= 0) output.join(step.participant)
      else {
        const length = output.place(sent)
        output.send(step.kind, step.unreliable, step.participant, { body: sent, length })
      }
      return [['send', step.kind, step.unreliable, hex(sent), step.participant]]
    }
    case 'broadcast': {
      const { kind, sender, room_id, except, topic } = step
      const length = output.place(sent)
      output.broadcast({ kind, unreliable: false, sender, room_id, except, topic }, length)
      return [['broadcast', kind, hex(sent), sender, room_id, except.join(), topic]]
    }
    case 'command': {
      const { name, text, id, room_id } = step
      output.command(name, text, { id, room_id })
      return [['command', commandNames[name], text, id, room_id]]
    }
    case 'done': {
      const length = output.place(sent)
      const text = step.text === undefined ? {} : { text: step.text }
      output.done(step.id, 0, { cpuUs: 5, length, ...text })
      return [['done', step.id, hex(sent), step.text]]
    }
  }
}

function effects(output: Output): Effect[] {
  const seen: Effect[] = []
  const wellFormed = visitOutput(output.take(), {
    done: (id, { reply, handed, text }) => seen.push(['done', id, handed ?? hex(reply), text]),
    broadcast: ({ kind, body, sender, room_id, except, topic }) =>
      seen.push(['broadcast', kind, hex(body), sender, room_id, except.join(), topic]),
    send: ({ kind, unreliable, body, participants }) => {
      for (const to of participants) seen.push(['send', kind, unreliable, hex(body), to])
    },
    after: () => {},
    every: () => {},
    cancel: () => {},
    command: ({ name, text, call, room_id }) => seen.push(['command', name, text, call, room_id]),
    failed: () => {},
    state() {},
    saved() {},
    fault() {},
    skipped() {},
  })
  expect(wellFormed).toBe(true)
  return seen
}
