import type {
  AuditAction,
  JsonObject,
  ScriptApi,
  ScriptCommands,
  ScriptErrorCode,
  ScriptFunctions,
  ScriptOrigin,
  scriptApi,
} from '@guildhall/contract'
import type { HumanPrincipal } from '../auth/principal.ts'
import { Failure } from '../failure.ts'
import type { Mutation } from '../mutation.ts'
import type { CallContext } from './calls.ts'

/** Whom a call of the script to the node runs for. */
export type ScriptCaller = Omit<CallContext, 'username'> & {
  origin: ScriptOrigin
  /** Which script it is. */
  revision_id: string
  /** Aborted when the calling handler is given up: nothing waits for the answer any more. */
  signal?(): AbortSignal
  /** Who called from the console. */
  operator?: HumanPrincipal | undefined
}

/** The implementations of one noun of the script API, as a feature brings them. */
export type ScriptPart<A extends ScriptApi> = ScriptFunctions<A, ScriptCaller> &
  ScriptCommands<A, ScriptCaller>

/** All of them: what is declared and served, and nothing else. */
export type ServedScript = ScriptPart<typeof scriptApi>
export type ScriptName = keyof ServedScript

/** Hooks that run for what has happened in the deployment, on one node and at least once. */
export type EventHook = 'on_leaderboard_reset' | 'on_tournament_completed' | 'schedule'

/** A change by the script; with an action it is audited under that name. */
export function byScript({ revision_id }: ScriptCaller, action?: AuditAction): Mutation {
  const actor = { kind: 'script', revision_id } as const
  return action === undefined ? { actor } : { actor, action }
}

/**
 * A refusal that the script reads. Services refuse with a `Failure`, which has a code of the HTTP
 * API; this one is for what only scripts can meet.
 */
export class ScriptFailure extends Error {
  override readonly name = 'ScriptFailure'
  readonly code: ScriptErrorCode
  /** Of an `http_error`: which rule. */
  readonly reason: string | undefined

  constructor(code: ScriptErrorCode, message: string, reason?: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

/** False for what is not there, else true. */
export async function falseWhenNotFound(done: Promise<unknown>): Promise<boolean> {
  return (await nullWhenNotFound(done.then(() => true))) ?? false
}

/** Null for what is not there. */
export async function nullWhenNotFound<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found') return null
    throw error
  }
}

/** What the filter of a storage index is asked about: an object as it is about to be stored. */
export type FilterCandidate = {
  /** Null is the system. */
  user_id: string | null
  collection: string
  key: string
  value: JsonObject
}

/** Sets or removes the filter of an index; false when no index of this name is declared. */
export type IndexFilterPort = (
  index: string,
  filter: ((candidate: FilterCandidate) => Promise<boolean>) | undefined,
) => Promise<boolean>

/** A name that a script wants to be called by, at the times of a cron expression. */
export type ScriptSchedule = { readonly name: string; readonly cron: string }

/** Hears what the serving script wants to be called for; undefined while none serves. */
export type SchedulesPort = (schedules: readonly ScriptSchedule[] | undefined) => void
