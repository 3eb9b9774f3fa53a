import { type AccountExport, api, type consoleAccountsApi, type Scope } from '@guildhall/contract'
import type { z } from 'zod'
import type { Check } from '../database/checks/check.ts'
import type { Queries, Transaction } from '../database/database.ts'
import type { TableName } from '../database/tables/index.ts'
import type { WriteBehind } from '../kernel/batching/write-behind.ts'
import { refuse } from '../kernel/failure.ts'
import { bindHandlers, type MountedRoute, type ServerHandlers } from '../kernel/http/exchange.ts'
import type { EventHook, ScriptName, ServedScript } from '../kernel/play/script.ts'
import type { PruneBatch } from '../kernel/tasks/retention.ts'
import type { SelfHealing, TaskHandle } from '../kernel/tasks/supervisor.ts'
import type { TaskBody } from '../kernel/tasks/supervisor-task.ts'

/**
 * What one feature brings to each place of the node that collects. The node iterates over its
 * features; it knows none of them by name except where another one needs it.
 */
export type Feature<
  S extends Section = never,
  F extends ScriptName = never,
  T extends TableName = never,
  R extends RelatedName = never,
  K extends StoryKind = never,
> = {
  /** The handlers of its sections of the contract. */
  readonly routes?: Routes<S>
  /** What the game's script can ask, by names such as `tournaments.register`. */
  readonly script?: Pick<ServedScript, F>
  readonly tasks?: readonly FeatureTask[]
  /** Removes what is past its time, by the name of the data, e.g. `expired_sessions`. */
  readonly pruners?: Pruners
  /** Removes what is more than a number of rows, which must be gone within seconds. */
  readonly surplus?: Pruners
  readonly queues?: readonly Queue[]
  /** The kinds of events that it leaves in the outbox, and who receives them. */
  readonly events?: readonly FeatureEvent[]
  /** What must always hold in the store, for the command `doctor`. */
  readonly checks?: readonly Check[]
  /** For each of its tables: what finds the rows that a crash loses. */
  readonly crash?: Readonly<Record<T, FoundBy>>
  /** What it keeps of an account, for the account's export. */
  readonly related?: Pick<RelatedReads, R>
  /** What it knows of the past of an account, for the account's timeline. */
  readonly stories?: Pick<Stories, K>
  /** Counters and gauges for `/status`, by name. */
  counters?(): Readonly<Record<string, number>>
  /** What waits beside the write-behind queues, for the metrics. */
  backlogs?(): readonly Backlog[]
  /** Ends what earlier boots of this node left open, before the script is loaded. */
  afterClaim?(): Promise<void>
  /** Does what fell due while no node was there, before anybody is let in. */
  catchUp?(signal: AbortSignal): Promise<void>
  /** Whether something is worth an operator's look; the node goes on serving. */
  degraded?(): boolean
  /** Tasks that fail at a part of their work, for the health of the node. */
  failing?(): readonly string[]
  /** Ends what is under way; the tasks have ended, and the queues are still written. */
  stop?(): Promise<unknown>
  /** Does what comes after the last row of the queues. */
  close?(): Promise<unknown>
}

type Related = AccountExport['related']

/** What belongs to an account, e.g. `wallet`. */
export type RelatedName = keyof Related

/** Reads what belongs to an account; an API key needs the scope, where there is one. */
export type RelatedReads = {
  readonly [K in RelatedName]: {
    readonly scope?: Scope
    read(tx: Queries, id: string): Promise<NonNullable<Related[K]>>
  }
}

/** What a timeline shows of one thing that happened. */
export type TimelineEntry = z.output<(typeof consoleAccountsApi)['timeline']['ok']>['items'][number]

/** A part of an account's timeline, e.g. `wallet`. */
export type StoryKind = TimelineEntry['kind']

/** Where a page of one part begins: behind this entry, which was on the page before. */
export type StoryPlace = { at_unix_ms: number; ref: string }

/** `before` is behind everything on the first page; a part may go by the time or by the ref. */
export type StoryPage = { user_id: string; before: StoryPlace; limit: number }

/** The place in a part whose refs are numbers that count up. */
export function numberOf({ ref }: StoryPlace): number {
  const number = ref === '' ? Number.MAX_SAFE_INTEGER : Number(ref)
  if (!Number.isSafeInteger(number)) throw refuse.invalid('after is not a place of a timeline')
  return number
}

export type StoryEntry = StoryPlace & { text: string }

/** Reads parts of an account's timeline, newest first; an API key needs the scope, if any. */
export type Stories = {
  readonly [K in StoryKind]: {
    readonly scope?: Scope
    read(tx: Queries, page: StoryPage): Promise<readonly StoryEntry[]>
  }
}

/** What finds the rows of a table that a crash loses, or why nothing does. */
export type FoundBy = CrashModel | { readonly not: string }

/**
 * The models of the crash tests (`testing/crash`), which hold the store against what was answered,
 * and the doctor, which holds it against itself.
 */
export type CrashModel =
  | 'players'
  | 'wallets'
  | 'friends'
  | 'groups'
  | 'chat'
  | 'notifications'
  | 'api-keys'
  | 'purchases'
  | 'leaderboards'
  | 'storage'
  | 'matches'
  | 'trail'
  | 'doctor'

/** A section of the contract, e.g. `wallet`. */
export type Section = keyof typeof api

/** Mounted routes by section. */
export type Routes<S extends Section> = { readonly [K in S]: readonly MountedRoute[] }

export type Pruners = Readonly<Record<string, PruneBatch<Transaction>>>

/** A write-behind queue, as seen by those who do not add to it. */
export type Queue = Omit<WriteBehind<never>, 'add'>

/** How full a queue is; `dropped` counts what it lost since the start. */
export type Backlog = { name: string; depth: number; capacity: number; dropped: number }

/** Events of one kind call a hook of the script, or are part of a transaction of their own. */
export type FeatureEvent =
  | {
      readonly hook: EventHook
      /** Whether nothing waits for the event any more, so that it is done without a call. */
      isOver?(payload: string): Promise<boolean>
    }
  | {
      readonly kind: string
      /** How many are under way at the same time. */
      readonly slots: number
      within(tx: Transaction, payload: string): Promise<void>
    }

/** A background loop that the supervisor keeps alive. */
export type FeatureTask = {
  name: string
  /** Pause between two runs, in milliseconds. */
  intervalMs: number
  run: TaskBody
  /** What the task itself tries again, one by one. */
  items?: SelfHealing
  /** Runs at once when the database is back after an outage. */
  needsDatabase?: true
  /** The node is not ready while it fails for long. */
  essential?: true
  /** Called with the handle of the started task, whose `wake` ends a pause early. */
  started?(task: TaskHandle): void
}

/**
 * Declares a feature, with the few members of it that other features need.
 *
 * @example
 * return defineFeature({ routes: mount({ friends: friendHandlers(friends) }) })
 */
export function defineFeature<
  S extends Section = never,
  F extends ScriptName = never,
  T extends TableName = never,
  R extends RelatedName = never,
  K extends StoryKind = never,
  M extends object = object,
>(feature: Feature<S, F, T, R, K>, members?: M): Feature<S, F, T, R, K> & M {
  return { ...feature, ...(members as M) }
}

/** Pairs the routes of sections with their handlers; a missing handler does not compile. */
export function mount<S extends Section>(
  handlers: {
    [K in S]: ServerHandlers<(typeof api)[K]>
  },
  admission: Pick<MountedRoute, 'admit'> = {},
): Routes<S> {
  const sections = Object.keys(handlers) as S[]
  const routes = sections.map((section) => {
    const bound = bindHandlers(api[section], handlers[section])
    return [section, bound.map((route) => ({ ...route, ...admission }))]
  })
  return Object.fromEntries(routes)
}
