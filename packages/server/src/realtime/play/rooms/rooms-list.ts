import type { JsonObject, RoomPage, RoomRow } from '@guildhall/contract'
import { atEndOfTurn, type Clock } from '../../../kernel/clock.ts'
import type { RoomHooks } from '../../../kernel/play/room-hooks.ts'
import { invalidQuery, readQuery } from '../matchmaker/tickets/criteria.ts'
import { fits, type Query } from '../query/query.ts'
import type { BuiltInAnswer, BuiltInMethod } from '../rpc/built-in.ts'
import type { Caller } from '../rpc/caller.ts'
import { takeCall } from '../rpc/rate-bucket.ts'
import type { Room } from './room.ts'
import type { Rooms } from './rooms.ts'

type RoomsListDeps = {
  rooms: Pick<Rooms, 'listed'>
  hooks: Pick<RoomHooks, 'admit'>
  clock: Pick<Clock, 'monotonicMs'>
}

/** One call: what is asked for, and how far it has come. */
type Search = {
  filter: Query
  limit: number
  after: number
  lookedAt: number
  found: RoomRow[]
  resolve(page: RoomPage): void
}

const limitDefault = 20
const limitMax = 100
const lookedAtMax = 1000
const waitingMax = 1000
const turnMs = 5
/** The time is looked at after so many rooms. */
const stepRooms = 50
const rate = { burst: 5, perSec: 1 }

/** `rooms.list`. Calls run one after another, for a short while in each turn of the event loop. */
export function createRoomsList({ rooms, hooks, clock }: RoomsListDeps): BuiltInMethod {
  const waiting: Search[] = []
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    atEndOfTurn(() => {
      isScheduled = false
      work()
    })
  }

  function work(): void {
    const untilMs = clock.monotonicMs() + turnMs
    for (let search = waiting[0]; search !== undefined; search = waiting[0]) {
      const page = step(search)
      if (page !== undefined) {
        waiting.shift()
        search.resolve(page)
      }
      if (clock.monotonicMs() >= untilMs) break
    }
    if (waiting.length > 0) schedule()
  }

  /** Looks at some rooms; the page once it is complete. */
  function step(search: Search): RoomPage | undefined {
    const listed = rooms.listed()
    let index = firstBehind(listed, search.after)
    const end = Math.min(listed.length, index + stepRooms)
    for (; index < end && !isComplete(search); index += 1) look(search, listed[index])
    if (index === listed.length) return { rooms: search.found }
    return isComplete(search) ? { rooms: search.found, next_after: search.after } : undefined
  }

  function add(caller: Caller, search: Omit<Search, 'resolve'>): Promise<RoomPage> | undefined {
    const bucket = takeCall(caller.listCalls, rate, clock.monotonicMs())
    if (bucket === undefined || waiting.length >= waitingMax) return undefined
    caller.listCalls = bucket
    return new Promise((resolve) => {
      waiting.push({ ...search, resolve })
      schedule()
    })
  }

  return {
    fields: ['filter', 'limit', 'after'],
    async call(caller, { filter = '', limit = limitDefault, after = 0 }): Promise<BuiltInAnswer> {
      const query = readQuery(filter)
      if ('problem' in query) return { refusal: invalidQuery(query) }
      if (!isWhole(limit) || limit < 1 || limit > limitMax || !isWhole(after) || after < 0) {
        return { refusal: 'invalid limit' }
      }
      if (!hooks.admit()) return { refusal: 'game script unavailable' }
      const reply = await add(caller, { filter: query, limit, after, lookedAt: 0, found: [] })
      return reply === undefined ? { refusal: 'too many requests' } : { reply }
    },
  }
}

function isComplete({ found, limit, lookedAt }: Search): boolean {
  return found.length >= limit || lookedAt >= lookedAtMax
}

function look(search: Search, room: Room | undefined): void {
  if (room === undefined) return
  search.after = room.id
  search.lookedAt += 1
  if (!room.label.open) return
  const row = rowOf(room)
  if (fits(search.filter, { get: (name) => fieldOf(row, name) })) search.found.push(row)
}

function rowOf({ id, name, label, members }: Room): RoomRow {
  const { map, mode, max_players, properties } = label
  // Labels hold what JSON gave, which is what the contract's type says.
  const json = properties as RoomRow['properties']
  return { id, name, map, mode, players: members.length, max_players, properties: json }
}

/** What a query reads: a property, or what every room has. */
function fieldOf(row: RoomRow, name: string): unknown {
  const properties: JsonObject = row.properties
  if (Object.hasOwn(properties, name)) return properties[name]
  switch (name) {
    case 'name':
    case 'map':
    case 'mode':
    case 'players':
    case 'max_players':
      return row[name]
    default:
      return undefined
  }
}

/** The index of the first room with a higher id. */
function firstBehind(listed: readonly Room[], id: number): number {
  let low = 0
  let high = listed.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((listed[middle]?.id ?? 0) > id) high = middle
    else low = middle + 1
  }
  return low
}

function isWhole(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value)
}
