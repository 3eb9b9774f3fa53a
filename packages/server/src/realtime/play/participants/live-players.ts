import type { LivePlayers } from '../../../kernel/play/delivery.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Others } from '../others.port.ts'
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** What features and scripts send by themselves. */
export function createLivePlayers(
  registry: Registry,
  others: () => Others,
): Omit<LivePlayers, 'isConnected'> {
  function connectedOf(userIds: readonly string[] | null): Iterable<Participant> {
    return userIds === null
      ? Iterator.from(registry.connected()).filter(isAccount)
      : Iterator.from(new Set(userIds)).flatMap(registry.byUser)
  }

  return {
    send({ kind, body, unreliable, participants }) {
      const frame = outgoingFrame(kind, body)
      const elsewhere: number[] = []
      for (const id of participants) {
        const participant = registry.byId(id)
        if (participant === undefined) elsewhere.push(id)
        else participant.receiver.deliver(frame, unreliable)
      }
      if (elsewhere.length > 0) {
        others().send({ kind, body, unreliable, participants: elsewhere })
      }
    },
    push(userIds, kind, body) {
      const frame = outgoingFrame(kind, body)
      for (const { receiver } of connectedOf(userIds)) receiver.deliver(frame, false)
      others().push(userIds, kind, body)
    },
    accountOf: (participant) => registry.byId(participant)?.context.user_id ?? null,
  }
}

function isAccount({ context }: Participant): boolean {
  return context.user_id !== null
}
