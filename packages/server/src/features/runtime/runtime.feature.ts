import type { RpcAnswer, RuntimeView, ScriptFailures } from '@guildhall/contract'
import type { Transaction } from '../../database/database.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { defineFeature, mount } from '../feature.ts'

export type RuntimeDeps = {
  mutate: Mutate<Transaction>
  script: {
    describe(): RuntimeView
    failures(): ScriptFailures
    /**
     * Calls an RPC of the script with nobody as its caller.
     *
     * @throws Failure `runtime_unavailable` while the gate is closed
     */
    consoleRpc(method: string, payload: string): Promise<RpcAnswer>
  }
}

/** The game's script, as operators see and call it. */
export function runtimeFeature({ mutate, script }: RuntimeDeps) {
  /** The call is over when its entry is written, because nobody could undo it. */
  async function rpc(mutation: Mutation, method: string, payload: string): Promise<RpcAnswer> {
    const answer = await script.consoleRpc(method, payload)
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
