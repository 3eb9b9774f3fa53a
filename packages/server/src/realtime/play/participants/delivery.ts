import type { Broadcast, Delivery } from '../../../kernel/play/delivery.ts'
import { outgoingFrame } from '../../frames/outgoing-frame.ts'
import type { Others } from '../others.port.ts'
import type { Member } from '../rooms/member.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Topics } from '../topics/topics.ts'
import { createLivePlayers } from './live-players.ts'
import type { Registry } from './registry.ts'

type DeliveryDeps = { registry: Registry; rooms: Rooms; topics: Topics; others(): Others }

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { registry, rooms, topics, others } = deps
  function audienceOf({ room_id, topic }: Broadcast): Iterable<Member> {
    if (topic !== undefined) return topics.members(topic)
    return room_id === null ? registry.participants() : (rooms.byId(room_id)?.members ?? [])
  }

  return {
    ...createLivePlayers(registry, others),
    broadcast(command) {
      const { kind, body, unreliable, sender, except } = command
      const frame = outgoingFrame(kind, body)
      const excluded = except.length === 0 ? undefined : new Set(except)
      const isWide = command.room_id === null || command.topic !== undefined
      for (const { context, receiver, relayed, isConnected } of audienceOf(command)) {
        const { participant } = context
        // One whose connection is on another node is reached there; its seat is here.
        if (isWide && relayed && isConnected) continue
        if (participant === sender || excluded?.has(participant)) continue
        receiver.deliver(frame, unreliable)
      }
      if (isWide) others().broadcast(command)
    },
    async online(userIds) {
      const asked = [...new Set(userIds)]
      const absent = asked.filter((userId) => !registry.isConnected(userId))
      const elsewhere = await others().online(absent)
      return asked.filter((userId) => registry.isConnected(userId) || elsewhere.has(userId))
    },
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
