import type { HookName } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import { late, within } from '../../kernel/time/within.ts'
import type { StartOutcome } from '../calls.ts'
import type { ScriptConfig } from '../config.ts'
import { ScriptLoadError } from '../process/load-error.ts'
import type { StartArgument } from '../serving/identity.ts'
import type { ServingScript } from '../serving/serving-script.ts'
import { protocolTimes } from '../wire/limits.ts'
import type { StartReason } from '../wire/protocol.ts'

type HandOver = {
  /** Serves, and goes on to do so unless the other takes over. */
  readonly old: Pick<ServingScript, 'identity' | 'pause' | 'onceSettled' | 'saveRooms' | 'unload'>
  /** Has loaded. */
  readonly fresh: { hooks: readonly HookName[]; start(argument: StartArgument): FreshStart }
  readonly reason: StartReason
  /** Whether rooms stay with the old script: then it hands nothing over, and is not held. */
  readonly bindsRooms: boolean
}

type FreshStart = Promise<StartOutcome>

type Deps = {
  clock: Clock
  config: Pick<ScriptConfig, 'hand_over_ms' | 'call_timeout_ms'>
}

/** `started`: on_start of the fresh script has run. Without a problem it may take over at once. */
export type HandedOver = { readonly started: boolean; readonly problem?: unknown }

/**
 * Readies a script to take over from the one that serves: that one gets no more calls, ends what it
 * has and gives its state, with which the other one starts. Until the caller decides, calls wait;
 * nothing has changed if it decides against the fresh one.
 */
export async function handOver(
  { old, fresh, reason, bindsRooms }: HandOver,
  { clock, config }: Deps,
): Promise<HandedOver> {
  const limitMs = config.call_timeout_ms + protocolTimes.graceMs
  const unloads = !bindsRooms && old.identity.handlers.hooks.includes('on_unload')
  const starts = fresh.hooks.includes('on_start')
  let state: string | undefined
  const hasStates = !bindsRooms && old.identity.handlers.rooms.length > 0
  if (!bindsRooms && (unloads || starts || hasStates)) old.pause()
  if (unloads || hasStates) await within(clock, config.hand_over_ms, old.onceSettled())
  if (hasStates) {
    const saved = await within(clock, limitMs, old.saveRooms())
    if (saved === late || saved.status !== 'ok') {
      return { started: false, problem: `saving the rooms of the serving script ${wordOf(saved)}` }
    }
  }
  if (unloads) {
    const given = await within(clock, limitMs, old.unload('reload'))
    if (given === late || given.status !== 'ok') {
      return { started: false, problem: `on_unload of the serving script ${wordOf(given)}` }
    }
    state = new TextDecoder().decode(given.reply)
  }
  const outcome = await within(clock, limitMs, fresh.start({ reason, state }))
  if (outcome !== late && outcome.status === 'ok') return { started: true }
  return { started: true, problem: problemOf(outcome) }
}

/** Why an on_start has failed, and where if that is known. */
function problemOf(outcome: StartOutcome | typeof late): ScriptLoadError {
  const message = `its on_start ${wordOf(outcome)}`
  const cause = outcome !== late && outcome.status === 'error' ? outcome.cause : undefined
  if (cause === undefined) return new ScriptLoadError({ message })
  const [, file, line] = /^(.*):(\d+)$/.exec(cause.place ?? '') ?? []
  const place = file === undefined ? {} : { file, line: Number(line) }
  return new ScriptLoadError({ message: `${message}: ${cause.reason}`, ...place })
}

function wordOf(outcome: StartOutcome | typeof late): string {
  switch (outcome === late ? late : outcome.status) {
    case 'timed_out':
    case late:
      return 'took too long'
    case 'too_large':
      return 'returned more than 4 MiB'
    case 'lost':
      return 'ended its worker'
    default:
      return 'failed'
  }
}
