import { stringifyExact } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import { ScriptFailure, type ScriptName, type ServedScript } from '../../kernel/play/script.ts'
import type { Gateway } from '../../realtime/gateway.ts'

/** What scripts ask of the gateway itself, and of its clock. */
export function gatewayFunctions(gateway: Gateway, clock: Pick<Clock, 'sleep'>) {
  return {
    async sleep(caller, { ms }) {
      const signal = caller.signal?.()
      // Aborted, it has no caller that waits.
      await clock.sleep(ms, signal).catch(() => {})
      return undefined
    },
    session_list: () => gateway.sessions(),
    online: (_caller, { user_ids }) => gateway.online(user_ids),
    room_list: () => gateway.rooms(),
    room_members: (_caller, { room_id }) => gateway.members(room_id),
    room_update: (_caller, { room_id, label }) => gateway.updateRoom(room_id, given(label)),
    room_remove: (_caller, { room_id, participant }) => gateway.removeMember(room_id, participant),
    'match.set_result': ({ match_id }, { result }) => {
      const text = typeof result === 'string' ? result : stringifyExact(result)
      if (match_id !== null) gateway.setMatchResult(match_id, text)
    },
    topic_join: (_caller, { topic, participant }) => gateway.joinTopic(topic, participant),
    topic_leave: (_caller, { topic, participant }) => gateway.leaveTopic(topic, participant),
    'matchmaker.backfill': (_caller, { room_id, seats, properties, options }) => {
      const { query, ttl_ms: ttlMs } = options ?? {}
      const offer = gateway.backfill.add(room_id, seats, { query, properties, ttlMs })
      if ('ticketId' in offer) return offer.ticketId
      if ('problem' in offer) throw refuse.invalid(offer.problem)
      throw backfillRefusals[offer.refusal]()
    },
    'matchmaker.backfill_cancel': (_caller, { ticket_id }) => gateway.backfill.cancel(ticket_id),
    'matchmaker.backfill_status': (_caller, { ticket_id }) => gateway.backfill.status(ticket_id),
  } satisfies Partial<ServedScript>
}

const backfillRefusals = {
  invalid_argument: () => refuse.invalid('properties or ttl_ms is out of bounds'),
  not_found: () => refuse.notFound('there is no such room'),
  conflict: () => refuse.conflict('the room has an offer or too few free places'),
  unavailable: () => new ScriptFailure('unavailable', 'the matchmaker is not available'),
} as const

/** What scripts ask of the features: all that is served but the gateway's own. */
export type FeatureScript = Pick<
  ServedScript,
  Exclude<ScriptName, keyof ReturnType<typeof gatewayFunctions>>
>

/** Without the members that are undefined: those of the room stay. */
function given<T extends object>(label: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(label).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
