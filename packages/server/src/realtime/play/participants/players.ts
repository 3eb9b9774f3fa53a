import { createNotices } from '../../connection/dispatch/notices.ts'
import { createServerTime } from '../../connection/dispatch/server-time.ts'
import type { QueueLedger } from '../../connection/send-queue/send-queue.ts'
import type { GatewayDeps } from '../../gateway.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import { createRoomRequests } from '../rooms/requests/request-queue.ts'
import { createRoomEntry } from '../rooms/requests/room-entry.ts'
import { createRoomCommands } from '../rooms/room-commands.ts'
import { createRooms } from '../rooms/rooms.ts'
import { createRoomsList } from '../rooms/rooms-list.ts'
import { createSeats } from '../seats/seats.ts'
import { createTopics } from '../topics/topics.ts'
import { createLiveAccounts } from './accounts.ts'
import { createArrivals, createEnding } from './arrivals.ts'
import { createDelivery } from './delivery.ts'
import { createGatherings } from './gatherings.ts'
import { countingIds } from './registry.ts'
import { createRevocation } from './revocation.ts'

export type PlayersDeps = GatewayDeps & {
  metrics: GatewayMetrics
  ledger: QueueLedger
  /** Too much is queued over all connections and seats. */
  relieve(): void
}

export type Players = ReturnType<typeof createPlayers>

/** Who plays on the node and where: participants, rooms, seats, topics, and what reaches them. */
export function createPlayers(deps: PlayersDeps) {
  const { clock, script, metrics, online, records, nodeSlot, ids } = deps
  const log = deps.log.component('realtime')
  const { limits } = deps.config
  const { registry } = online
  const rooms = createRooms({
    ...deps,
    hooks: script,
    roomless: registry.roomless,
    nextRoomId: countingIds(nodeSlot),
    newMatchId: () => ids.durable('mt1-'),
  })
  const topics = createTopics({ clock, log, metrics })
  const accounts = createLiveAccounts(registry)
  const { matchmaker, disconnected, cameOnline, methods } = createGatherings({
    ...deps,
    registry,
    rooms,
    roomLimits: deps.rooms,
    accounts,
  })
  const finish = createEnding({ registry, script, rooms, topics, disconnected })
  const graceMs = deps.rooms.reconnect_grace_ms
  const seats = createSeats({ ...deps, limits, graceMs, registry, rooms, disconnected, finish })
  const revocation = createRevocation({ ...deps, registry, seats, log })
  const notices = createNotices(clock)
  const offersAlways = deps.serverTimeOffer === 'always'
  const randomness = ids.bytes
  const serverTime = createServerTime({ clock, metrics, notices, offersAlways, randomness })
  const entry = createRoomEntry({ ...deps, log, config: deps.rooms, hooks: script, rooms })
  const requests = createRoomRequests({ rooms, entry, log })
  return {
    registry,
    rooms,
    seats,
    revocation,
    notices,
    serverTime,
    matchmaker,
    requests,
    builtIns: {
      'rooms.list': createRoomsList({ rooms, hooks: script, clock }),
      ...methods(requests),
    },
    delivery: createDelivery({ online, rooms, topics }),
    commands: createRoomCommands({ rooms, registry, topics, seats, records }),
    arrivals: createArrivals({
      registry,
      script,
      seats,
      serverTime,
      nextParticipantId: countingIds(nodeSlot),
      recheck: revocation.recheck,
      finish,
      cameOnline,
    }),
  }
}
