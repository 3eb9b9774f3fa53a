import type { LivePlayers } from '../../../kernel/play/delivery.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** What features and scripts send by themselves. */
export function createLivePlayers(registry: Registry): Omit<LivePlayers, 'isConnected'> {
  function connectedOf(userIds: readonly string[] | null): Iterable<Participant> {
    return userIds === null
      ? Iterator.from(registry.connected()).filter(isAccount)
      : Iterator.from(new Set(userIds)).flatMap(registry.byUser)
  }

  return {
    send({ kind, body, unreliable, participants }) {
      const frame = outgoingFrame(kind, body)
      for (const participant of participants) {
        registry.byId(participant)?.receiver.deliver(frame, unreliable)
      }
    },
    push(userIds, kind, body) {
      const frame = outgoingFrame(kind, body)
      for (const { receiver } of connectedOf(userIds)) receiver.deliver(frame, false)
    },
    accountOf: (participant) => registry.byId(participant)?.context.user_id ?? null,
  }
}

function isAccount({ context }: Participant): boolean {
  return context.user_id !== null
}
