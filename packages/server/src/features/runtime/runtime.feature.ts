import type { RpcAnswer, RuntimeView, ScriptFailures } from '@guildhall/contract'
import type { Transaction } from '../../database/database.ts'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { defineFeature, mount } from '../feature.ts'

export type RuntimeDeps = {
  mutate: Mutate<Transaction>
  /** RPCs that operators call and no script serves, by method. */
  builtIns: Readonly<Record<string, ConsoleRpc>>
  script: {
    describe(): RuntimeView
    failures(): ScriptFailures
    /**
     * Calls an RPC of the script with nobody as its caller.
     *
     * @throws Failure `runtime_unavailable` while the gate is closed
     */
    consoleRpc(method: string, payload: string, operator?: HumanPrincipal): Promise<RpcAnswer>
  }
}

type ConsoleRpc = (mutation: Mutation, payload: string) => Promise<RpcAnswer>

/** The game's script, as operators see and call it. */
export function runtimeFeature({ mutate, script, builtIns }: RuntimeDeps) {
  function call(mutation: Mutation, method: string, payload: string): Promise<RpcAnswer> {
    const builtIn = Object.hasOwn(builtIns, method) ? builtIns[method] : undefined
    if (builtIn !== undefined) return builtIn(mutation, payload)
    const { actor } = mutation
    return script.consoleRpc(method, payload, actor.kind === 'human' ? actor : undefined)
  }

  /** The call is over when its entry is written, because nobody could undo it. */
  async function rpc(mutation: Mutation, method: string, payload: string): Promise<RpcAnswer> {
    const answer = await call(mutation, method, payload)
    const entry = { target: `rpc ${method}`, details: `ok=${answer.ok}` }
    return mutate(mutation, async () => ({ answer, ...entry }), { isolation: 'read committed' })
  }

  return defineFeature({
    routes: mount({
      runtime: {
        get: async () => script.describe(),
        failures: async () => script.failures(),
        rpc: ({ mutation, params, body }) => rpc(mutation, params.method, body.payload),
      },
    }),
  })
}
