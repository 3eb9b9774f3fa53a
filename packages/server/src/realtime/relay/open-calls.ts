import type { GatewayMetrics } from '../metrics.ts'
import { unavailable } from '../play/elsewhere.port.ts'
import type { Receiver } from '../play.port.ts'
import type { Report } from './messages.ts'

type Done<Type extends Report['type']> = Extract<Report, { type: Type }>

/** The calls and messages of one client that another node has and has not answered. */
export class OpenCalls {
  readonly #metrics: GatewayMetrics
  readonly #rpcs = new Map<number, bigint>()
  /** The kinds of messages. */
  #messages: number[] = []

  constructor(metrics: GatewayMetrics) {
    this.#metrics = metrics
  }

  rpc(call: number, requestId: bigint): void {
    this.#rpcs.set(call, requestId)
  }

  message(kind: number): void {
    this.#messages.push(kind)
  }

  replied({ call, ok, payload }: Done<'replied'>, receiver: Receiver | undefined): void {
    const requestId = this.#rpcs.get(call)
    if (requestId === undefined) return
    this.#rpcs.delete(call)
    const outcome = ok
      ? ({ ok: true, reply: payload } as const)
      : ({ ok: false, error: Buffer.from(payload).toString('utf8') } as const)
    receiver?.replied(requestId, outcome)
  }

  messageDone(report: Done<'settled' | 'unhandled'>, receiver: Receiver | undefined): void {
    const { kind } = report
    const isPosition = report.type === 'unhandled' && !report.wasMessage
    const at = isPosition ? -1 : this.#messages.indexOf(kind)
    if (at < 0 && !isPosition) return
    if (at >= 0) this.#messages.splice(at, 1)
    if (report.type === 'settled') {
      receiver?.settled(kind, report.outcome)
      return
    }
    this.#metrics.unhandled_kind_total += 1
    if (!isPosition) receiver?.settled(kind, 'ok')
    receiver?.unhandled(kind, report.reason)
  }

  /** The way to the other node is lost: each gets its one answer here. */
  fail(receiver: Receiver | undefined): void {
    const [rpcs, messages] = [[...this.#rpcs.values()], this.#messages]
    this.forget()
    for (const requestId of rpcs) refuseRpc(receiver, requestId)
    this.#metrics.link_dropped_total += messages.length
    for (const kind of messages) receiver?.settled(kind, 'unavailable')
  }

  forget(): void {
    this.#rpcs.clear()
    this.#messages = []
  }
}

export function refuseRpc(receiver: Receiver | undefined, requestId: bigint): void {
  receiver?.replied(requestId, { ok: false, error: unavailable })
}
