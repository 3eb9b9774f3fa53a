import type { Clock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import type { Membership } from '../../kernel/cluster/membership.ts'
import type { Log } from '../../kernel/log/log.ts'
import { type Content, encodeMessage } from './messages.ts'

/** Questions of nodes to each other, each answered at most once. Values are JSON. */
export type Asks = {
  /** What another node answers; `silent` if that is nothing within `ms`. */
  ask(boot: string, question: Question, ms: number): Promise<unknown>
  /** Answers all questions about something. `value` was checked by nobody. */
  serve(about: string, answer: (value: unknown, from: string) => Promise<unknown>): void
  received(from: string, content: Extract<Content, { type: 'ask' | 'answer' }>): void
}

export type Question = { about: string; value: unknown }

/** What `ask` resolves to where no answer has come. */
export const silent: unique symbol = Symbol('silent')

export type AsksDeps = {
  bus: Bus
  membership: Pick<Membership, 'bootId'>
  clock: Pick<Clock, 'after'>
  log: Log
}

export function createAsks({ bus, membership, clock, log }: AsksDeps): Asks {
  const open = new Map<number, { boot: string; answered(value: unknown): void }>()
  const servers = new Map<string, (value: unknown, from: string) => Promise<unknown>>()
  let calls = 0

  function send(boot: string, content: Content): void {
    bus.send(boot, encodeMessage(membership.bootId, content))
  }

  return {
    ask(boot, { about, value }, ms) {
      if (!bus.isUp) return Promise.resolve(silent)
      calls += 1
      const call = calls
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const answered = (answer: unknown) => {
        timer.cancel()
        open.delete(call)
        resolve(answer)
      }
      const timer = clock.after(ms, () => answered(silent))
      open.set(call, { boot, answered })
      send(boot, { type: 'ask', call, about, value })
      return promise
    },
    serve(about, answer) {
      servers.set(about, answer)
    },
    received(from, content) {
      const { call } = content
      if (content.type === 'answer') {
        const asked = open.get(call)
        if (asked?.boot === from) asked.answered(content.value)
        return
      }
      // Who asks about something unknown hears nothing, as from a node of another version.
      const work = servers.get(content.about)?.(content.value, from)
      work?.then(
        (value) => send(from, { type: 'answer', call, value: value ?? null }),
        (error) => log.error('a question of another node failed', { about: content.about, error }),
      )
    },
  }
}
