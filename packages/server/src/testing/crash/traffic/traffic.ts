import type { ApiAnswer, Caller } from '../../api.ts'
import { expectSame, expectThat, type Operation } from '../operation.ts'
import type { Random } from '../random.ts'
import type { RoomCaller } from './room-calls.ts'
import type { ScriptCaller } from './script-calls.ts'

/** An operation under way, with the Idempotency-Key under which it may be repeated. */
type Sent = { operation: Operation; key: string | undefined }
type Answered = Sent & { answer: ApiAnswer }

/** One node: an operator who is signed in, a player who calls the script, guests in rooms. */
export type Operator = { call: Caller; token: string; script: ScriptCaller; rooms: RoomCaller }

/** What may be gone: an honest reason for a 500, of the script's calls or of all. */
type Away = 'script' | 'database'

/** Of the answered requests with a key, how many are sent once more after a restart. */
const repeatsMax = 8

/**
 * Sends operations to whatever node there is. What was answered is noted in the model; what
 * was not is kept until the store shows it, or until it is repeated under its Idempotency-Key.
 */
export function createTraffic({ random, mark }: { random: Random; mark(kind: string): string }) {
  let node: Operator | undefined
  let lost: Sent[] = []
  let answered: Answered[] = []
  let acknowledged = 0
  let unanswered = 0
  let away: Away | undefined

  async function send({ operation, key }: Sent): Promise<ApiAnswer | undefined> {
    const operator = node
    if (operator === undefined) return undefined
    const { method, path, body, token = operator.token } = operation.request
    const ask = () => {
      if (method === 'RPC') return operator.script(path, body)
      if (method === 'ROOM') return operator.rooms(Number(body), path === '' ? null : path)
      return operator.call(method, path, { token, body, headers })
    }
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
    const mayFail = away === 'database' || (away === 'script' && method === 'RPC')
    const answer = await ask().catch(() => undefined)
    if (answer === undefined || (mayFail && answer.status === 500)) return undefined
    return answer
  }

  function settle(sent: Sent, answer: ApiAnswer): void {
    const { operation } = sent
    const facts = noted(operation, () => operation.heard(answer))
    if (facts !== undefined) {
      noted(operation, () => operation.apply(facts))
      acknowledged += 1
      if (sent.key !== undefined) answered.push({ ...sent, answer })
    }
    operation.release?.()
  }

  /** Done exactly once: before the crash, as the repeat answers, or by the repeat. */
  async function repeat(sent: Sent): Promise<void> {
    const { operation } = sent
    const before = noted(operation, () => operation.found())
    const answer = await send(sent)
    expectThat(answer !== undefined, `no answer to the repeat of ${nameOf(operation)}`)
    if (answer === undefined) return
    if (operation.request.answerHoldsSecret && before !== undefined) {
      noted(operation, () => expectSame(answer.status, 409, 'the repeat of what showed a secret'))
      noted(operation, () => operation.apply(before))
      operation.release?.()
      return
    }
    const replayed = answer.headers.get('idempotency-replayed') === 'true'
    noted(operation, () => expectSame(replayed, before !== undefined, 'whether it was done before'))
    settle(sent, answer)
  }

  /** An answer under a key is given again, word for word, and nothing is done. */
  async function replay({ operation, key, answer }: Answered): Promise<void> {
    const again = await send({ operation, key })
    noted(operation, () => {
      if (operation.request.answerHoldsSecret) return expectSame(again?.status, 409, 'its repeat')
      const replayed = again?.headers.get('idempotency-replayed')
      const noted = [again?.status, again?.text, replayed]
      expectSame(noted, [answer.status, answer.text, 'true'], 'the replayed answer')
    })
  }

  return {
    /** Changes that were answered as done, and requests that got no answer. */
    counts: () => ({ acknowledged, unanswered }),
    connect(operator: Operator): void {
      node = operator
    },
    setAway(what: Away | undefined): void {
      away = what
    },
    /** False when no answer came, or none that says what was done. */
    async perform(operation: Operation): Promise<boolean> {
      const { method, path } = operation.request
      const mayRepeat = path.startsWith('/console/') && method !== 'GET'
      const key = mayRepeat && random.chance(0.3) ? mark('once') : undefined
      const sent = { operation, key }
      const answer = await send(sent)
      if (answer !== undefined) {
        settle(sent, answer)
        return true
      }
      unanswered += 1
      lost.push(sent)
      return false
    },
    /** What became of lost operations without a key, from what was read of the store. */
    settleFromStore(): void {
      for (const { operation } of lost.filter(({ key }) => key === undefined)) {
        const facts = noted(operation, () => operation.found())
        if (facts !== undefined) noted(operation, () => operation.apply(facts))
        operation.release?.()
      }
      lost = lost.filter(({ key }) => key !== undefined)
    },
    /** Sends lost operations with a key once more, and some that were answered. */
    async repeatKeyed(): Promise<void> {
      const repeated = lost
      lost = []
      for (const sent of repeated) await repeat(sent)
      const chosen = Array.from({ length: repeatsMax }, () => random.pick(answered))
      for (const one of new Set(chosen)) if (one !== undefined) await replay(one)
      answered = []
    },
  }
}

/** Says of which operation an error is. */
function noted<T>(operation: Operation, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Error(`${nameOf(operation)}: ${error instanceof Error ? error.message : error}`)
  }
}

function nameOf({ request: { method, path, body } }: Operation): string {
  return `${method} ${path} ${JSON.stringify(body)}`
}
