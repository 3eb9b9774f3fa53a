import type { TableName } from '../../database/tables/index.ts'
import type {
  Backlog,
  Feature,
  FoundBy,
  Pruners,
  Queue,
  RelatedName,
  RelatedReads,
  Routes,
  Section,
  Stories,
  StoryKind,
} from '../../features/feature.ts'
import type { ScriptName, ServedScript } from '../../kernel/play/script.ts'

/** Features by their names. */
export type FeatureList = Readonly<Record<string, Feature>>

/** The sections that these features mount. */
type MountedBy<F> = F extends { readonly routes?: infer R } ? keyof NonNullable<R> & Section : never

/**
 * The routes of all features by section. Where all sections of the contract are expected, one that
 * no feature mounts does not compile.
 */
export function joinRoutes<F extends FeatureList>(features: F): Routes<MountedBy<F[keyof F]>> {
  return Object.assign({}, ...Object.values<Feature>(features).map(({ routes }) => routes))
}

/** The values of one member, of those features that have it. */
function membersOf<K extends keyof Feature>(
  features: FeatureList,
  member: K,
): NonNullable<Feature[K]>[] {
  return Object.values(features).flatMap((feature) => {
    const value = feature[member]
    return value === undefined ? [] : [value as NonNullable<Feature[K]>]
  })
}

export function queuesOf(features: FeatureList): readonly Queue[] {
  return membersOf(features, 'queues').flat()
}

/** All that waits in features: rows of the write-behind queues, and what has a queue of its own. */
export function backlogsOf(features: FeatureList): readonly Backlog[] {
  const queues = queuesOf(features).map((queue): Backlog => {
    const { queued, dropped, abandoned } = queue.counts()
    const { name, capacity } = queue
    return { name, depth: queued, capacity, dropped: dropped + abandoned }
  })
  return [...queues, ...membersOf(features, 'backlogs').flatMap((backlogs) => backlogs())]
}

/** The kinds of events that features leave in the outbox. */
export function eventsOf(features: FeatureList) {
  return membersOf(features, 'events').flat()
}

export function checksOf(features: FeatureList) {
  return membersOf(features, 'checks').flat()
}

/** The tables that these features declare. */
type TablesOf<F> = F extends { readonly crash?: infer C } ? keyof NonNullable<C> & TableName : never

/** Features of which none declares a table of another one. */
type EachTableOnce<F> = {
  readonly [K in keyof F]: {
    readonly crash?: { readonly [T in TablesOf<F[Exclude<keyof F, K>]>]?: never }
  }
}

/**
 * What finds the rows that a crash loses, by table. Where all tables are expected, one that no
 * feature declares does not compile; neither does one that two declare.
 */
export function joinCrash<F extends FeatureList>(
  features: F & EachTableOnce<F>,
): Readonly<Record<TablesOf<F[keyof F]>, FoundBy>> {
  return Object.assign({}, ...membersOf(features, 'crash'))
}

export function tasksOf(features: FeatureList) {
  return membersOf(features, 'tasks').flat()
}

/** What is past its time (`pruners`), or more than a number of rows (`surplus`). */
export function prunersOf(features: FeatureList, member: 'pruners' | 'surplus'): Pruners {
  return Object.assign({}, ...membersOf(features, member))
}

/** What these features bring of an account's export. */
type RelatedBy<F> = F extends { readonly related?: infer R }
  ? keyof NonNullable<R> & RelatedName
  : never

/**
 * What belongs to an account. Where all of the export is expected, a part that no feature brings
 * does not compile.
 */
export function joinRelated<F extends FeatureList>(
  features: F,
): Pick<RelatedReads, RelatedBy<F[keyof F]>> {
  return Object.assign({}, ...membersOf(features, 'related'))
}

/** The parts of an account's timeline that these features bring. */
type StoriesBy<F> = F extends { readonly stories?: infer S }
  ? keyof NonNullable<S> & StoryKind
  : never

/** The past of an account. A part of the timeline that no feature brings does not compile. */
export function joinStories<F extends FeatureList>(
  features: F,
): Pick<Stories, StoriesBy<F[keyof F]>> {
  return Object.assign({}, ...membersOf(features, 'stories'))
}

/** The functions of the script API that these features bring. */
type ScriptNamesOf<F> = F extends { readonly script?: infer P }
  ? keyof NonNullable<P> & ScriptName
  : never

/**
 * What scripts can ask of the features. Where all of the script API is expected, a function that is
 * declared as served and that no feature brings does not compile.
 */
export function joinScript<F extends FeatureList>(
  features: F,
): Pick<ServedScript, ScriptNamesOf<F[keyof F]>> {
  return Object.assign({}, ...membersOf(features, 'script'))
}

export function countersOf(features: FeatureList): Record<string, number> {
  return Object.assign({}, ...membersOf(features, 'counters').map((counters) => counters()))
}

export function isDegraded(features: FeatureList): boolean {
  return membersOf(features, 'degraded').some((degraded) => degraded())
}

export function failingOf(features: FeatureList): readonly string[] {
  return membersOf(features, 'failing').flatMap((failing) => failing())
}

/** Ends what earlier boots of this node left open. */
export async function afterClaim(features: FeatureList): Promise<void> {
  for (const endOf of membersOf(features, 'afterClaim')) await endOf()
}

/** One after another, in the order in which the features were built. */
export async function catchUp(features: FeatureList, signal: AbortSignal): Promise<void> {
  for (const catchUpOf of membersOf(features, 'catchUp')) {
    if (signal.aborted) return
    await catchUpOf(signal)
  }
}
