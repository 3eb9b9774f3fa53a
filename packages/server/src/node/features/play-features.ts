import { errorJournalFeature } from '../../features/error-journal/error-journal.feature.ts'
import { historyFeature } from '../../features/history/history.feature.ts'
import { type MatchesDeps, matchesFeature } from '../../features/matches/matches.feature.ts'
import { deliveryFeature } from '../../features/outbox/outbox.feature.ts'
import { type RuntimeDeps, runtimeFeature } from '../../features/runtime/runtime.feature.ts'
import { revocationsFeature } from '../../features/sessions/sessions.revocations.ts'
import type { OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import type { EventHook } from '../../kernel/play/script.ts'
import type { Features } from './features.ts'
import { eventsOf, type FeatureList } from './joined.ts'
import type { Shared } from './shared.ts'

/** What these features need of the gateway and of the script. */
export type PlayPorts = {
  gateway: Parameters<typeof revocationsFeature>[0]['gateway'] &
    MatchesDeps['rooms'] &
    Pick<MatchesDeps, 'matchmaker'>
  script: { events: ScriptEvents; game: { admit(): boolean } } & RuntimeDeps['script']
  /** The other nodes of the deployment. */
  nodes: OtherNodes
  /** Whether any transport lets players in. */
  attached: boolean
  journal: Pick<ErrorJournal, 'page'>
}

/** The script of this node, as far as it is called with events. */
type ScriptEvents = { ready(): boolean; deliver(hook: EventHook, event: string): Promise<void> }

/** Events of one hook that are under way at the same time. */
const hookSlots = 16

/** Builds the features that stand on the gateway and the script. */
export function createPlayFeatures(shared: Shared, features: Features, play: PlayPorts) {
  const { gateway, script, attached } = play
  return {
    delivery: createDelivery(shared, features, script.events),
    revocations: revocationsFeature({ ...shared, gateway }),
    matches: matchesFeature({
      mutate: features.audit.mutate,
      rooms: gateway,
      nodes: play.nodes,
      attached,
      admit: script.game.admit,
      matchmaker: gateway.matchmaker,
    }),
    runtime: runtimeFeature({
      mutate: features.audit.mutate,
      script,
      rooms: gateway,
      nodes: play.nodes,
      builtIns: features.lag.consoleRpcs,
    }),
    errorJournal: errorJournalFeature(play.journal),
    history: historyFeature({
      ...shared,
      host: features.telemetry.host,
      reloads: () => script.failures().reloads,
    }),
  }
}

/** Delivers the events of features, those of hooks to the script. */
export function createDelivery(
  shared: Pick<Shared, 'db' | 'clock' | 'log'>,
  features: FeatureList,
  script: ScriptEvents,
) {
  const consumers = eventsOf(features).map((event) => {
    if ('within' in event) return event
    const { hook, isOver } = event
    const outside = async (payload: string) => {
      if (!(await isOver?.(payload))) await script.deliver(hook, payload)
    }
    return { kind: hook, slots: hookSlots, ready: script.ready, outside }
  })
  return deliveryFeature({ ...shared, consumers })
}
