import { limits } from '../wire/limits.ts'
import type { HostCall, HostResult, StoppedCall } from '../wire/protocol.ts'
import { GuildhallError } from './errors.ts'
import { HostMap } from './host-map.ts'
import type { Invocation } from './invocation.ts'

/** Calls of the worker to the node, and the promises that wait for their results. */
export type HostCalls = {
  /** Resolves also for a refusal; never for an invocation that was given up. */
  ask(invocation: Invocation, name: string, args: readonly unknown[]): Promise<HostResult>
  /** The calls made since they were last taken, and which of earlier ones are to stop. */
  take(): { calls: HostCall[]; stopped: StoppedCall[] }
  resolve(result: HostResult): void
} & StoppableCall

/** For a language whose scripts cancel what they wait for. */
export type StoppableCall = {
  /** The number of the call that was made last; 0 for none. */
  readonly last: number
  /** Nothing waits for the call any more. Its place is free when the node has answered. */
  stop(id: number): void
}

type Open = { invocation: Invocation; resolve: (result: HostResult) => void }

export function createHostCalls(wantTurnEnd: () => void): HostCalls {
  const open = new HostMap<number, Open>()
  let asked: HostCall[] = []
  let stopped: StoppedCall[] = []
  let last = 0

  /** One that has not been sent yet is not sent. */
  function dropUnsent(id: number): boolean {
    const kept: HostCall[] = []
    for (let n = 0; n < asked.length; n += 1) {
      const call = asked[n]
      if (call && call.id !== id) kept[kept.length] = call
    }
    const isDropped = kept.length < asked.length
    asked = kept
    return isDropped
  }

  function resolve(result: HostResult): void {
    const waiting = open.get(result.id)
    if (!waiting) return
    open.delete(result.id)
    const { invocation } = waiting
    invocation.hostCallsOpen -= 1
    // What was given up is not waited for any more: its code does not go on.
    if (!invocation.gaveUp) waiting.resolve(withOwnBytes(invocation, result))
  }

  return {
    get last() {
      return last
    },
    ask(invocation, name, args) {
      count(invocation)
      last += 1
      const id = last
      const { id: call = 0, room_id = null } = invocation.call ?? {}
      asked[asked.length] = { id, invocation: call, room_id, name, args }
      wantTurnEnd()
      return new Promise((resolve) => open.set(id, { invocation, resolve }))
    },
    take() {
      const taken = { calls: asked, stopped }
      asked = []
      stopped = []
      return taken
    },
    resolve,
    stop(id) {
      const waiting = open.get(id)
      if (!waiting) return
      if (dropUnsent(id)) {
        resolve({ id, ok: false, code: 'timeout', message: 'the call has been stopped' })
        return
      }
      stopped[stopped.length] = { id, invocation: waiting.invocation.call?.id ?? 0 }
      wantTurnEnd()
    },
  }
}

/** Throws when the invocation may not call the node once more. */
export function expectHostCall(invocation: Invocation): void {
  if (invocation.hostCallsOpen >= limits.hostCallsOpen) {
    throw new GuildhallError('limit_exceeded', `more than ${limits.hostCallsOpen} calls at a time`)
  }
  if (invocation.call && invocation.hostCalls >= limits.hostCallsPerInvocation) {
    throw new GuildhallError('limit_exceeded', `more than ${limits.hostCallsPerInvocation} calls`)
  }
}

/** Calls that share an answer get bytes of their own, which their script may change. */
function withOwnBytes(invocation: Invocation, result: HostResult): HostResult {
  if (!result.ok || !(result.value instanceof Uint8Array)) return result
  const { id, value: bytes } = result
  if (result.kept) invocation.answered = { call: id, bytes }
  return { id, ok: true, value: new Uint8Array(bytes) }
}

function count(invocation: Invocation): void {
  expectHostCall(invocation)
  invocation.hostCallsOpen += 1
  invocation.hostCalls += 1
}
