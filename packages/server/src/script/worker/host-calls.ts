import { limits } from '../wire/limits.ts'
import type { HostCall, HostResult } from '../wire/protocol.ts'
import { GuildhallError } from './errors.ts'
import { HostMap } from './host-map.ts'
import type { Invocation } from './invocation.ts'

/** Calls of the worker to the node, and the promises that wait for their results. */
export type HostCalls = {
  /** Resolves also for a refusal; never for an invocation that was given up. */
  ask(invocation: Invocation, name: string, args: readonly unknown[]): Promise<HostResult>
  /** The calls made since they were last taken. */
  take(): HostCall[]
  resolve(result: HostResult): void
}

type Open = { invocation: Invocation; resolve: (result: HostResult) => void }

export function createHostCalls(wantTurnEnd: () => void): HostCalls {
  const open = new HostMap<number, Open>()
  let asked: HostCall[] = []
  let last = 0

  return {
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
      const taken = asked
      asked = []
      return taken
    },
    resolve(result) {
      const waiting = open.get(result.id)
      if (!waiting) return
      open.delete(result.id)
      const { invocation } = waiting
      invocation.hostCallsOpen -= 1
      // What was given up is not waited for any more: its code does not go on.
      if (!invocation.gaveUp) waiting.resolve(result)
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

function count(invocation: Invocation): void {
  expectHostCall(invocation)
  invocation.hostCallsOpen += 1
  invocation.hostCalls += 1
}
