import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ConsoleClient } from '@guildhall/client/console'
import type { Duelist, Fought } from './duelist.ts'

const patienceMs = 15_000

/** A formed match: who was to play, and how long the slowest of its tickets had waited. */
export type Match = { players: Duelist[]; waitedMs: number }

/** What the evening has seen, by room. */
export type Evening = {
  client: ConsoleClient
  matches: Map<number, Match>
  fights: Fought[]
  /** Rooms whose players left without a fight. */
  abandoned: number[]
  /** A database in memory keeps no records of matches. */
  hasRecords: boolean
}

/** Every room has ended, and its record says what its players have seen. */
export async function expectRecords(evening: Evening): Promise<void> {
  const { client, matches, fights, abandoned } = evening
  const rooms = [...matches.keys()]
  await until(async () => {
    const { rooms: live } = await client.matches.list({ query: {} })
    return !live.some(({ id }) => rooms.includes(id))
  })
  if (!evening.hasRecords) return
  for (const roomId of rooms) {
    const record = await closedRecord(client, roomId)
    const here = fights.filter((fought) => fought.roomId === roomId)
    const isAbandoned = abandoned.includes(roomId)
    const came = isAbandoned ? 1 : here.length
    const [first] = matches.get(roomId)?.players ?? []
    assert.partialDeepStrictEqual(record, {
      map: first?.region,
      mode: first?.mode,
      termination_reason: 'final_departure',
      peak_participants: came,
      join_total: came,
    })
    const [winner] = new Set(here.map((fought) => fought.winner))
    const result = isAbandoned ? undefined : { winner, players: came }
    assert.deepEqual(record.result_json && JSON.parse(record.result_json), result)
  }
}

async function closedRecord(client: ConsoleClient, roomId: number) {
  let found: string | undefined
  await until(async () => {
    const { items } = await client.matchRecords.list({ query: { limit: 100 } })
    const record = items.find(({ room_id }) => room_id === roomId)
    found = record?.match_id
    return record?.open === false
  })
  return client.matchRecords.get({ params: { match_id: found ?? '' }, query: {} })
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + patienceMs; !(await holds()); await sleep(100)) {
    assert.ok(Date.now() < endMs, 'it has not happened in time')
  }
}
