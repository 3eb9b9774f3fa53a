import type { MatchmakerTotals } from '@guildhall/contract'
import type { Clock } from '../../kernel/clock.ts'
import type { Ids } from '../../kernel/ids.ts'
import type { Log } from '../../kernel/log/log.ts'
import type { Delivery } from '../../kernel/play/delivery.ts'
import type { MatchRecorder } from '../../kernel/play/match-recorder.ts'
import type { RoomCommands, RoomStates } from '../../kernel/play/room-commands.ts'
import type { TransportLimits } from '../config.ts'
import { countingIds } from '../counting-ids.ts'
import type { QueueHolder, QueueTotals } from '../frames/queue-totals.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { PlayPort } from '../play.port.ts'
import type { GameScript } from '../ports.ts'
import type { Coordination, Gathered } from './coordination.port.ts'
import type { Elsewhere } from './elsewhere.port.ts'
import { createGatherings } from './gatherings.ts'
import type { MatchmakerConfig } from './matchmaker/config.ts'
import type { Matchmaker } from './matchmaker/matchmaker.ts'
import type { Others } from './others.port.ts'
import { createAccounts } from './participants/accounts.ts'
import { createArrivals, createEnding } from './participants/arrivals.ts'
import { createDelivery } from './participants/delivery.ts'
import { createLocal, type Local } from './participants/local.ts'
import { createPositionRelay } from './participants/position-relay.ts'
import type { Registry } from './participants/registry.ts'
import type { PartyConfig } from './parties/config.ts'
import type { People } from './parties/people.port.ts'
import { createPlayPort } from './play-port.ts'
import type { RoomsConfig } from './rooms/config.ts'
import { createPresenceCosts } from './rooms/presence-costs.ts'
import { createRoomRequests } from './rooms/requests/request-queue.ts'
import { createRoomEntry } from './rooms/requests/room-entry.ts'
import { createRoomCommands } from './rooms/room-commands.ts'
import { createRooms } from './rooms/rooms.ts'
import { createRoomsList } from './rooms/rooms-list.ts'
import { createSnapshots } from './rooms/snapshots.ts'
import { createStateFollowing } from './rooms/states/following.ts'
import { createKeptStates } from './rooms/states/kept-states.ts'
import { createRpcs } from './rpc/rpcs.ts'
import { createSeats, type Seats } from './seats/seats.ts'
import { createTopics } from './topics/topics.ts'
import { createVisits, type Visits } from './visits.ts'

export type PlayDeps = {
  rooms: RoomsConfig
  matchmaker: MatchmakerConfig
  party: PartyConfig
  people: People
  /** What a seat may keep, and how many there may be. */
  limits: TransportLimits
  clock: Clock
  ids: Pick<Ids, 'durable' | 'bytes'>
  log: Log
  metrics: GatewayMetrics
  /** Empty; the owner alone fills it. */
  registry: Registry
  totals: QueueTotals
  /** Too much is queued over all connections and seats. */
  relieve(): void
  script: GameScript
  /** Keeps the durable records of matches; `noMatchRecords` for a database in memory. */
  records: MatchRecorder
  /** False while the node has lost its node id; no room is made then. */
  mayMakeRooms(): boolean
  /** A ticket has been matched after so long. */
  observeWait?: ((waitedMs: number) => void) | undefined
  /** 0 on a node without cluster, 1..4095 otherwise; part of every room id. */
  nodeSlot(): number
  /** The other nodes; `alone` without a cluster. */
  elsewhere: Elsewhere
  coordination: Coordination
  others(): Others
}

/** The owner: who plays on the node and where, and what reaches them. */
export type Play = {
  /** What an edge asks. */
  port: PlayPort
  delivery: Delivery
  /** What other nodes ask of the participants here. */
  local: Local
  commands: RoomCommands
  /** What the script says of the states of rooms. */
  states: RoomStates
  /** What the matchmaker did so far, and how many tickets wait. */
  matchmaker(): MatchmakerTotals
  /** Offers of free seats in running rooms. */
  backfill: Matchmaker['backfill']
  seats: Pick<Seats, 'sessionIds' | 'endSessions'>
  /** What the relay to other nodes does with participants and rooms here. */
  visits: Visits
  /** Tickets and parties, as they pass from node to node. */
  gathered: Gathered
  /** The seat that holds most bytes. */
  largestSeat(): QueueHolder | undefined
  /** Ends every room and every seat. */
  endAll(): void
  /** The same, and what runs by itself. */
  close(): void
}

const seatsCheckMs = 60_000

export function createPlay(deps: PlayDeps): Play {
  const { clock, script, metrics, registry, records, ids } = deps
  const log = deps.log.component('realtime')
  const snapshots = createSnapshots(clock)
  const states = createStateFollowing({ clock, registry, hooks: script })
  const rooms = createRooms({
    ...{ clock, metrics, records, registry, snapshots, states, hooks: script },
    nextRoomId: countingIds(deps.nodeSlot),
    releaseName: deps.elsewhere.releaseName,
    newMatchId: () => ids.durable('mt1-'),
  })
  const topics = createTopics({ clock, log, metrics })
  const local = createAccounts(registry)
  const gatherings = createGatherings({ ...deps, local, rooms, limits: deps.rooms })
  const { matchmaker, disconnected, cameOnline } = gatherings
  const finish = createEnding({ registry, script, rooms, topics, disconnected })
  const graceMs = deps.rooms.reconnect_grace_ms
  const common = { ...deps, rooms, costs: createPresenceCosts(clock), snapshots, states }
  const seats = createSeats({ ...common, graceMs, disconnected, finish })
  const entry = createRoomEntry({
    ...{ ...common, log, config: deps.rooms, hooks: script },
    enterByToken: matchmaker.enter,
  })
  const requests = createRoomRequests({ registry, rooms, entry, log })
  const builtIns = {
    'rooms.list': createRoomsList({ rooms, hooks: script, clock }),
    ...gatherings.methods(requests),
  }
  const { closeAll, ...commands } = createRoomCommands({
    ...{ rooms, registry, topics, seats, records },
    others: deps.others,
  })
  function endAll(): void {
    closeAll()
    seats.endAll()
  }

  const seatsCheck = clock.every(seatsCheckMs, () => seats.sweep(clock.nowUnixMs()))
  return {
    port: createPlayPort({
      ...{ registry, script, metrics, seats, snapshots, states, requests },
      arrivals: createArrivals({
        ...{ clock, registry, script, seats, finish, cameOnline, disconnected, topics, graceMs },
        elsewhere: deps.elsewhere,
      }),
      relayPosition: createPositionRelay({ clock, metrics, registry }),
      rpc: createRpcs({ script, builtIns }),
    }),
    delivery: createDelivery({ registry, rooms, topics, others: deps.others }),
    local: createLocal({ registry, rooms, topics }),
    commands,
    states: {
      deliverState: states.deliverState,
      ...createKeptStates({ clock, rooms, registry, following: states, close: commands.closeRoom }),
    },
    matchmaker: matchmaker.counts,
    backfill: matchmaker.backfill,
    seats,
    visits: createVisits({ registry, rooms, entry, seats, finish }),
    gathered: gatherings.gathered,
    largestSeat: seats.largest,
    endAll,
    close() {
      matchmaker.stop()
      seatsCheck.cancel()
      snapshots.stop()
      states.stop()
      endAll()
    },
  }
}
