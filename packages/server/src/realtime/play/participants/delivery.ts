import type { Broadcast, Delivery } from '../../../kernel/play/delivery.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Topics } from '../topics/topics.ts'
import type { ConnectedPlayers } from './connected-players.ts'
import type { Participant } from './participant.ts'

type DeliveryDeps = { online: ConnectedPlayers; rooms: Rooms; topics: Topics }

export function createDelivery({ online, rooms, topics }: DeliveryDeps): Delivery {
  const { registry, live } = online

  function audienceOf({ room_id, topic }: Broadcast): Iterable<Participant> {
    if (topic !== undefined) return topics.members(topic)
    return room_id === null ? registry.participants() : (rooms.byId(room_id)?.members ?? [])
  }

  return {
    ...live,
    broadcast(command) {
      const { kind, body, unreliable, sender, except } = command
      const frame = outgoingFrame(kind, body)
      const excluded = except.length === 0 ? undefined : new Set(except)
      for (const { context, receiver } of audienceOf(command)) {
        const { participant } = context
        if (participant === sender || excluded?.has(participant)) continue
        receiver.deliver(frame, unreliable)
      }
    },
    online: (userIds) => [...new Set(userIds)].filter(registry.isConnected),
    sessions() {
      return Array.from(registry.connected(), ({ participant: { context } }) => ({
        participant: context.participant,
        user_id: context.user_id,
        username: context.username,
        room_id: context.room_id,
      }))
    },
  }
}
