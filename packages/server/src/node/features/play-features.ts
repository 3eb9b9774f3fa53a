import { errorJournalFeature } from '../../features/error-journal/error-journal.feature.ts'
import { type MatchesDeps, matchesFeature } from '../../features/matches/matches.feature.ts'
import { deliveryFeature } from '../../features/outbox/outbox.feature.ts'
import { type RuntimeDeps, runtimeFeature } from '../../features/runtime/runtime.feature.ts'
import { revocationsFeature } from '../../features/sessions/sessions.revocations.ts'
import { createNoticeWriter, resultNotices } from '../../features/tournaments/settlement/notices.ts'
import { tournamentCompleted } from '../../features/tournaments/settlement/settlement.ts'
import { boardReset } from '../../features/tournaments/tournaments.feature.ts'
import type { ErrorJournal } from '../../kernel/errors/error-journal.ts'
import type { EventHook } from '../../script/wire/hooks.ts'
import type { Features } from './features.ts'
import type { Shared } from './shared.ts'

/** What these features need of the gateway and of the script. */
export type PlayPorts = {
  gateway: Parameters<typeof revocationsFeature>[0]['gateway'] &
    MatchesDeps['rooms'] &
    Pick<MatchesDeps, 'matchmaker'>
  script: { events: ScriptEvents; game: { admit(): boolean } } & RuntimeDeps['script']
  /** Whether any transport lets players in. */
  attached: boolean
  journal: Pick<ErrorJournal, 'page'>
}

/** The script of this node, as far as it is called with events. */
type ScriptEvents = { ready(): boolean; deliver(hook: EventHook, event: string): Promise<void> }

/** Events of one kind that are under way at the same time. */
const hookSlots = 16
const noticeSlots = 2

/** Builds the features that stand on the gateway and the script. */
export function createPlayFeatures(shared: Shared, features: Features, play: PlayPorts) {
  const { gateway, script, attached } = play
  return {
    delivery: createDelivery(shared, features, script.events),
    revocations: revocationsFeature({ ...shared, gateway }),
    matches: matchesFeature({
      rooms: gateway,
      attached,
      admit: script.game.admit,
      matchmaker: gateway.matchmaker,
    }),
    runtime: runtimeFeature({ mutate: features.audit.mutate, script }),
    errorJournal: errorJournalFeature(play.journal),
  }
}

/** Delivers events to notifications and to the script. */
export function createDelivery(
  shared: Pick<Shared, 'db' | 'clock' | 'log'>,
  features: Features,
  script: ScriptEvents,
) {
  const hookConsumer = (kind: EventHook) => {
    const outside = (payload: string) => script.deliver(kind, payload)
    return { kind, slots: hookSlots, ready: script.ready, outside }
  }
  const within = createNoticeWriter({ notify: features.notifications.store })
  return deliveryFeature({
    ...shared,
    consumers: [
      { kind: resultNotices, slots: noticeSlots, within },
      hookConsumer(tournamentCompleted),
      hookConsumer(boardReset),
    ],
  })
}
