import { parseExact, stringifyExact } from '@guildhall/contract'
import type { CoordinatedCall, Gathered } from '../../play/coordination.port.ts'
import { isObject } from '../../play/rooms/requests/label-answers.ts'
import type { BuiltInAnswer, BuiltInMethods } from '../../play/rpc/built-in.ts'
import { type Asks, silent } from '../asks.ts'
import type { RelayDeps } from '../relay-deps.ts'
import type { PresenceFeed } from './presence-feed.ts'
import type { PresentAccounts } from './present-accounts.ts'
import type { RecordFeed } from './record-feed.ts'
import { type AnswerValue, type CallValue, readAnswer, readCall } from './records.ts'
import type { CoordinatorRole } from './role.ts'

type CallsDeps = Pick<RelayDeps, 'bus' | 'clock' | 'commandTimeoutMs'> & {
  asks: Asks
  role: CoordinatorRole
  present: Pick<PresentAccounts, 'caller'>
  feed: Pick<PresenceFeed, 'flush'>
  records: Pick<RecordFeed, 'flush'>
  gathered(): Gathered
  /** Asks an edge who is connected there. */
  presenceAgain(boot: string): void
}

const about = 'gatherings'
const noCoordinator = { refusal: 'matchmaker is temporarily unavailable' }

/** Calls about tickets and parties, carried to the node that has them. */
export function createCalls(deps: CallsDeps) {
  const { asks, role, present, clock, bus } = deps

  /** Of another node; undefined where it is to be asked again, because that has them no more. */
  async function ask(
    boot: string,
    { method, caller, payload }: CoordinatedCall,
    ms: number,
  ): Promise<BuiltInAnswer | undefined> {
    const { participant } = caller.context
    const value = { method, participant, payload: stringifyExact(payload) } satisfies CallValue
    const said = await asks.ask(boot, { about, value }, ms)
    const answer = said === silent ? undefined : readAnswer(said)
    if (answer === undefined) return noCoordinator
    if ('refusal' in answer) return answer
    if ('elsewhere' in answer) return undefined
    const reply: unknown = parseExact(answer.reply)
    return isObject(reply) ? { reply } : noCoordinator
  }

  async function call(request: CoordinatedCall, here: BuiltInMethods): Promise<BuiltInAnswer> {
    const giveUpAtMs = clock.monotonicMs() + deps.commandTimeoutMs
    for (;;) {
      // Who calls is there before what it calls.
      deps.feed.flush()
      if (role.isServing) return answerHere(here, request)
      const leftMs = giveUpAtMs - clock.monotonicMs()
      if (leftMs <= 0) return noCoordinator
      const { other } = role
      if (other === undefined || !bus.isUp) {
        await role.changed(leftMs)
        continue
      }
      const answer = await ask(other.boot, request, leftMs)
      if (answer !== undefined) return answer
      role.refused(other.boot)
    }
  }

  async function answerHere(
    methods: BuiltInMethods,
    { method, caller, payload }: CoordinatedCall,
  ): Promise<BuiltInAnswer> {
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined
    if (found === undefined) return { refusal: 'unknown RPC method' }
    const answer = await found.call(caller, payload)
    deps.records.flush()
    return answer
  }

  async function answer(value: unknown, from: string): Promise<AnswerValue> {
    const asked = readCall(value)
    const payload: unknown = asked && parseExact(asked.payload)
    if (asked === undefined || !isObject(payload)) return { refusal: 'invalid JSON body' }
    if (role.state === 'collecting') await role.changed(deps.commandTimeoutMs)
    if (!role.isServing) return { elsewhere: true }
    const caller = present.caller(from, asked.participant)
    if (caller === undefined) {
      deps.presenceAgain(from)
      return noCoordinator
    }
    const request = { method: asked.method, caller, payload }
    const answered = await answerHere(deps.gathered().methods, request)
    return 'refusal' in answered ? answered : { reply: stringifyExact(answered.reply) }
  }

  asks.serve(about, answer)
  return { call }
}
