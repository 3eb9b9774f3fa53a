import type { Broadcast, Delivery } from '../../../kernel/play/delivery.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Member } from '../rooms/member.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Topics } from '../topics/topics.ts'
import { createLivePlayers } from './live-players.ts'
import type { Registry } from './registry.ts'

type DeliveryDeps = { registry: Registry; rooms: Rooms; topics: Topics }

export function createDelivery({ registry, rooms, topics }: DeliveryDeps): Delivery {
  function audienceOf({ room_id, topic }: Broadcast): Iterable<Member> {
    if (topic !== undefined) return topics.members(topic)
    return room_id === null ? registry.participants() : (rooms.byId(room_id)?.members ?? [])
  }

  return {
    ...createLivePlayers(registry),
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
    online: async (userIds) => [...new Set(userIds)].filter(registry.isConnected),
    async sessions() {
      return Array.from(registry.connected(), ({ context }) => ({
        participant: context.participant,
        user_id: context.user_id,
        username: context.username,
        room_id: context.room_id,
      }))
    },
  }
}
