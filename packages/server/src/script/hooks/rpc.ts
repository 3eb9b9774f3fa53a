import type { RpcAnswer, ScriptOrigin } from '@guildhall/contract'
import type { HumanPrincipal } from '../../kernel/auth/principal.ts'
import { refuse } from '../../kernel/failure.ts'
import { type CallContext, nobody, type RpcOutcome } from '../../kernel/play/calls.ts'
import type { Outcome } from '../calls.ts'
import type { Router } from '../serving/router.ts'
import { readFailure } from '../wire/failure.ts'
import { hookCode } from '../wire/hooks.ts'
import type { StateRooms } from './state-rooms.ts'
import { texts } from './texts.ts'

type RpcDeps = {
  router: Router
  stateRooms: Pick<StateRooms, 'definitionOf'>
  admit(): boolean
  gateOpen(): boolean
}

/** The script's RPCs, as players and operators call them. */
export function createRpc({ router, stateRooms, admit, gateOpen }: RpcDeps) {
  const notServing = () => (gateOpen() ? texts.notAvailable : texts.gateClosed)

  /** How the call ended, or the refusal of one that no handler is run for. */
  function call(about: Caller, method: string, body: Uint8Array): Promise<Outcome> | string {
    const script = router.pick(about)
    if (script === undefined) return notServing()
    const isOfRoom = stateRooms.definitionOf(about.context)?.methods.includes(method) ?? false
    if (!isOfRoom && !script.handlesMethod(method)) return texts.unknownMethod
    if (router.inbox.isFull()) return texts.tooManyRequests
    return new Promise((settle) => {
      router.call({ hook: hookCode.on_rpc, ...about, body, text: method, settle })
    })
  }

  return {
    async ofPlayer(context: CallContext, method: string, body: Uint8Array): Promise<RpcOutcome> {
      if (!admit()) return { ok: false, error: notServing() }
      return rpcOutcome(await call({ context, origin: 'player' }, method, body), notServing)
    },

    /** Throws `runtime_unavailable` while the gate is closed. */
    async ofConsole(
      method: string,
      payload: string,
      operator?: HumanPrincipal,
    ): Promise<RpcAnswer> {
      if (!admit()) throw refuse.runtimeUnavailable('the script is not ready')
      const body = new TextEncoder().encode(payload)
      const outcome = await call({ context: nobody, origin: 'console', operator }, method, body)
      return rpcAnswer(outcome, notServing)
    },
  }
}

type Caller = { context: CallContext; origin: ScriptOrigin; operator?: HumanPrincipal | undefined }

function rpcOutcome(outcome: Outcome | string, notServing: () => string): RpcOutcome {
  if (typeof outcome === 'string') return { ok: false, error: outcome }
  switch (outcome.status) {
    case 'ok':
      return { ok: true, reply: outcome.reply }
    case 'failed_with_text':
      return { ok: false, error: outcome.text, more: readFailure(outcome.more) }
    case 'error':
      return { ok: false, error: texts.handlerError }
    case 'timed_out':
      return { ok: false, error: texts.timedOut }
    case 'too_large':
      return { ok: false, error: texts.replyTooLarge }
    case 'lost':
      return { ok: false, error: notServing() }
  }
}

/** What an operator reads: also why and where a handler failed. */
function rpcAnswer(outcome: Outcome | string, notServing: () => string): RpcAnswer {
  const read = rpcOutcome(outcome, notServing)
  if (read.ok) return { ok: true, reply: new TextDecoder().decode(read.reply) }
  const error = read.error === texts.notAvailable ? texts.noScript : read.error
  if (typeof outcome === 'string' || !('cause' in outcome) || outcome.cause === undefined) {
    return { ok: false, error }
  }
  const { reason, place } = outcome.cause
  return { ok: false, error, reason, place }
}
