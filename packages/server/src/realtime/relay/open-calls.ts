import type { GatewayMetrics } from '../metrics.ts'
import { unavailable } from '../play/elsewhere.port.ts'
import type { Receiver } from '../play.port.ts'
import type { Report } from './messages.ts'

/** What is open, and the connection that asked: it alone gets the answer. */
type OpenRpc = { requestId: bigint; receiver: Receiver | undefined }
type OpenMessage = { kind: number; receiver: Receiver | undefined }

type Done<Type extends Report['type']> = Extract<Report, { type: Type }>

/** The calls and messages of one client that another node has and has not answered. */
export class OpenCalls {
  readonly #metrics: GatewayMetrics
  readonly #rpcs = new Map<number, OpenRpc>()
  #messages: OpenMessage[] = []

  constructor(metrics: GatewayMetrics) {
    this.#metrics = metrics
  }

  rpc(call: number, open: OpenRpc): void {
    this.#rpcs.set(call, open)
  }

  message(open: OpenMessage): void {
    this.#messages.push(open)
  }

  replied({ call, ok, payload }: Done<'replied'>): void {
    const open = this.#rpcs.get(call)
    if (open === undefined) return
    this.#rpcs.delete(call)
    const outcome = ok
      ? ({ ok: true, reply: payload } as const)
      : ({ ok: false, error: Buffer.from(payload).toString('utf8') } as const)
    open.receiver?.replied(open.requestId, outcome)
  }

  /** `receiver` gets what becomes of positions, which nobody keeps. */
  messageDone(report: Done<'settled' | 'unhandled'>, receiver: Receiver | undefined): void {
    const { kind } = report
    if (report.type === 'unhandled' && !report.wasMessage) {
      this.#metrics.unhandled_kind_total += 1
      receiver?.unhandled(kind, report.reason)
      return
    }
    const at = this.#messages.findIndex((open) => open.kind === kind)
    const [open] = at < 0 ? [] : this.#messages.splice(at, 1)
    if (open === undefined) return
    if (report.type === 'settled') {
      open.receiver?.settled(kind, report.outcome)
      return
    }
    this.#metrics.unhandled_kind_total += 1
    open.receiver?.settled(kind, 'ok')
    open.receiver?.unhandled(kind, report.reason)
  }

  /** The way to the other node is lost: each gets its one answer here. */
  fail(): void {
    const [rpcs, messages] = [[...this.#rpcs.values()], this.#messages]
    this.forget()
    for (const { receiver, requestId } of rpcs) refuseRpc(receiver, requestId)
    this.#metrics.link_dropped_total += messages.length
    for (const { receiver, kind } of messages) receiver?.settled(kind, 'unavailable')
  }

  forget(): void {
    this.#rpcs.clear()
    this.#messages = []
  }
}

export function refuseRpc(receiver: Receiver | undefined, requestId: bigint): void {
  receiver?.replied(requestId, { ok: false, error: unavailable })
}
