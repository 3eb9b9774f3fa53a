import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { JsonObject } from '@guildhall/contract'
import { atEndOfTurn, createSystemClock } from '../../kernel/clock.ts'
import { createIds } from '../../kernel/ids.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { noMatchRecords } from '../../kernel/play/match-recorder.ts'
import { noStates } from '../../kernel/play/no-states.ts'
import type { RoomHooks } from '../../kernel/play/room-hooks.ts'
import { countingIds } from '../../realtime/counting-ids.ts'
import { createGatewayMetrics } from '../../realtime/metrics.ts'
import { ownCoordination } from '../../realtime/play/coordination.port.ts'
import { createMatchmaker } from '../../realtime/play/matchmaker/matchmaker.ts'
import { createTicketQueue } from '../../realtime/play/matchmaker/tickets/ticket-queue.ts'
import { createAccounts } from '../../realtime/play/participants/accounts.ts'
import {
  connect,
  newParticipant,
  noReceiver,
} from '../../realtime/play/participants/participant.ts'
import { createRegistry } from '../../realtime/play/participants/registry.ts'
import { createRooms } from '../../realtime/play/rooms/rooms.ts'
import { createSnapshots } from '../../realtime/play/rooms/snapshots.ts'

/**
 * The matchmaker in process, with rooms and tokens and without sockets, for the benchmarks. Prints
 * for a small and a large crowd, as often as there are rounds, how long it took until all but one
 * in twenty had their tokens (of an odd number in reach of each other one is left) and how long the
 * event loop was kept at once, and what a waiting ticket takes of the heap.
 */
type Options = { small: number; large: number; waiting: number; rounds: number }
const options: Options = JSON.parse(process.argv[2] ?? '')

type Crowd = { tookMs: number; keptMs: number }

const clock = createSystemClock()
const ids = createIds({ clock, nodeId: 'node-1', bootId: 'bt1-0' })
const regions = ['eu', 'us', 'asia']
const ratings = 3000
const ratingSpan = 100

const crowds: Record<'small' | 'large', Crowd[]> = { small: [], large: [] }
for (let round = 0; round < options.rounds; round += 1) {
  crowds.small.push(await match(options.small))
  crowds.large.push(await match(options.large))
}
const facts = (['small', 'large'] as const).flatMap((name) => [
  `${name}_ms=${crowds[name].map(({ tookMs }) => tookMs.toFixed(1)).join()}`,
  `${name}_kept_ms=${crowds[name].map(({ keptMs }) => keptMs.toFixed(1)).join()}`,
])
process.stdout.write(`ready ${facts.join(' ')} ticket_bytes=${bytesOfWaiting(options.waiting)}\n`)

/** Duels of so many players that queue in one turn. */
async function match(count: number): Promise<Crowd> {
  const { matchmaker, players } = start(count, true)
  // All of them within this turn: passes begin after it.
  await Promise.all(players.map((player, index) => matchmaker.add(player, payloadOf(index))))
  const startMs = clock.monotonicMs()
  let lastMs = startMs
  let keptMs = 0
  await new Promise<void>((resolve) => {
    const turn = () => {
      const nowMs = clock.monotonicMs()
      keptMs = Math.max(keptMs, nowMs - lastMs)
      lastMs = nowMs
      if (matchmaker.counts().queued_tickets > count / 20) atEndOfTurn(turn)
      else resolve()
    }
    atEndOfTurn(turn)
  })
  matchmaker.stop()
  return { tookMs: lastMs - startMs, keptMs }
}

/** Tickets with two queries, as tickets of rated games have. */
function bytesOfWaiting(count: number): number {
  const { matchmaker, players } = start(count, false)
  const beforeBytes = heapBytes()
  for (const [index, player] of players.entries()) {
    const { query, ...rest } = payloadOf(index)
    void matchmaker.add(player, { query: query ?? '', wide_query: `region == "eu"`, ...rest })
  }
  const bytes = (heapBytes() - beforeBytes) / count
  if (matchmaker.counts().queued_tickets !== count) throw new Error('a ticket was refused')
  matchmaker.stop()
  return Math.round(bytes)
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().heapUsed
}

/** What a client would send, read from JSON. */
function payloadOf(index: number): JsonObject {
  const region = regions[index % regions.length] ?? ''
  const rating = (index * 7919) % ratings
  const near = `rating >= ${rating - ratingSpan} AND rating <= ${rating + ratingSpan}`
  const query = `region == "${region}" AND ${near}`
  return JSON.parse(JSON.stringify({ query, properties: { region, rating } }))
}

function start(count: number, gateOpen: boolean) {
  const metrics = createGatewayMetrics()
  const registry = createRegistry(metrics)
  const hooks = hooksOf(gateOpen)
  const rooms = createRooms({
    clock,
    metrics,
    hooks,
    records: noMatchRecords,
    snapshots: createSnapshots(clock),
    states: { entered() {}, left() {} },
    registry,
    nextRoomId: countingIds(() => 0),
    releaseName() {},
    newMatchId: () => ids.durable('mt1-'),
  })
  const matchmaker = createMatchmaker({
    coordination: ownCoordination,
    config: {
      max_tickets: count,
      interval_ms: 250,
      default_ttl_ms: 600_000,
      max_ttl_ms: 600_000,
      handoff_ttl_ms: 1000,
      widen_after_ms: 5000,
    },
    limits: { max_rooms: count, max_members: 1000 },
    clock,
    log: createRecordedLog(),
    hooks,
    rooms,
    accounts: createAccounts(registry),
    queue: createTicketQueue(clock),
    mayMakeRooms: () => true,
    newId: () => ids.bytes(18).toString('base64url'),
    randomness: ids.bytes,
    partyOf: () => ({ refusal: 'party not found' }),
  })
  const players = Array.from({ length: count }, (_, index) => {
    const participant = newParticipant(index + 1, undefined)
    connect(participant, { receiver: noReceiver, flags: 0, relayed: false, sinceMs: 0 })
    registry.add(participant)
    return participant.context
  })
  return { matchmaker, players }
}

/** Without a script. */
function hooksOf(gateOpen: boolean): RoomHooks {
  const absent = async () => ({ status: 'absent' }) as const
  return {
    ...noStates,
    admit: () => true,
    gateOpen: () => gateOpen,
    binding: () => null,
    roomCreate: absent,
    roomJoin: absent,
    ticketAdd: () => undefined,
    matched: absent,
    misanswered() {},
    drop() {},
    returned: (_context, _seat, settled) => settled(),
    match: (_event, settled) => settled(),
  }
}
