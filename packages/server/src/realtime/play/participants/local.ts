import type { Broadcast, Delivery, Send } from '../../../kernel/play/delivery.ts'
import { nobodyElse } from '../others.port.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Topics } from '../topics/topics.ts'
import { createDelivery } from './delivery.ts'
import type { Registry } from './registry.ts'

/** What reaches the participants of this node because another node asks for it. */
export type Local = Pick<Delivery, 'push'> & {
  send(command: Send): void
  broadcast(command: Broadcast): void
  topic(topic: string, participant: number, isJoin: boolean): void
  isHere(participant: number): boolean
}

type LocalDeps = { registry: Registry; rooms: Rooms; topics: Topics }

export function createLocal({ registry, rooms, topics }: LocalDeps): Local {
  const { send, broadcast, push } = createDelivery({
    ...{ registry, rooms, topics },
    others: () => nobodyElse,
  })
  return {
    ...{ send, broadcast, push },
    topic(topic, id, isJoin) {
      const participant = registry.byId(id)
      if (participant === undefined) return
      if (isJoin) topics.join(topic, participant)
      else topics.leave(topic, participant)
    },
    isHere: (id) => registry.byId(id) !== undefined,
  }
}
