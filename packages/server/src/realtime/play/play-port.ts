import { kinds } from '@guildhall/contract'
import { isBuiltIn } from '../built-in-methods.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { PlayPort } from '../play.port.ts'
import type { GameScript } from '../ports.ts'
import type { Arrivals } from './participants/arrivals.ts'
import type { PositionRelay } from './participants/position-relay.ts'
import type { Registry } from './participants/registry.ts'
import { presenceVersion } from './rooms/member.ts'
import type { RoomRequests } from './rooms/requests/request-queue.ts'
import type { Snapshots } from './rooms/snapshots.ts'
import type { StateFollowing } from './rooms/states/following.ts'
import type { createRpcs } from './rpc/rpcs.ts'
import type { Seats } from './seats/seats.ts'

type PlayPortDeps = {
  registry: Registry
  script: GameScript
  metrics: GatewayMetrics
  seats: Pick<Seats, 'isReturning'>
  snapshots: Snapshots
  states: Pick<StateFollowing, 'asked'>
  arrivals: Arrivals
  requests: RoomRequests
  relayPosition: PositionRelay
  rpc: ReturnType<typeof createRpcs>
}

/** The door of the owner: finds participants by their ids. */
export function createPlayPort(deps: PlayPortDeps): PlayPort {
  const { registry, script, metrics, seats, snapshots, states } = deps
  const { arrivals, requests, relayPosition, rpc } = deps
  return {
    ...arrivals,
    setFlags(id, flags) {
      const participant = registry.byId(id)
      if (participant === undefined) return
      const before = presenceVersion(participant.flags)
      participant.flags = flags
      if (participant.away !== undefined) return participant.away.setFlags(flags)
      const hasNewPresence = presenceVersion(flags) !== before && !seats.isReturning(participant)
      if (hasNewPresence) snapshots.sendRarely(participant)
      if (!seats.isReturning(participant)) states.asked(participant)
    },
    request: requests.ask,
    position(id, position) {
      const sender = registry.byId(id)
      if (sender?.away !== undefined) return sender.away.position(position)
      if (sender?.room !== undefined) sender.room.messages += 1
      if (sender === undefined || relayPosition(sender, position)) return
      metrics.unhandled_kind_total += 1
      sender.receiver.unhandled(kinds.POSITION.first, 'no_handler')
    },
    message(id, message) {
      const sender = registry.byId(id)
      if (sender === undefined) return
      if (sender.away !== undefined) return sender.away.message(message)
      const { context, receiver, room } = sender
      if (room !== undefined) room.messages += 1
      script.message(context, message, (outcome) => receiver.settled(message.kind, outcome))
    },
    rpc(id, request) {
      const caller = registry.byId(id)
      if (caller === undefined) return
      const { away } = caller
      if (away !== undefined && !isBuiltIn(request.method)) away.rpc(request)
      else rpc(caller, request)
    },
    script,
  }
}
