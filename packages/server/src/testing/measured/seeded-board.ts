import type { Database } from '../../database/database.ts'
import { statement } from '../../database/statement.ts'
import { beginPeriod } from '../../features/leaderboards/leaderboards.periods.ts'
import { leaderboardsStore } from '../../features/leaderboards/leaderboards.store.ts'
import { blocksStore } from '../../features/leaderboards/ranks/blocks.store.ts'
import { boundBetween, placeOf } from '../../features/leaderboards/ranks/place.ts'

const chunkRows = 2000
/** Records of a block of each level, as many submissions leave them. */
const blockRecords = { 1: 33, 2: 33 * 32, 3: 33 * 32 * 32 } as const
const scores = 10_000_019

/** The user with a number, 37 letters as account ids have them. */
export function userOf(number: number): string {
  return `user-${((number * 7919) % 4_294_967_291).toString(16).padStart(32, '0')}`
}

/** A score in no order. */
export function scoreOf(number: number): number {
  return (number * 104_729) % scores
}

const emptyBlocks = statement({
  name: 'measured.empty-blocks',
  text: 'DELETE FROM leaderboard_blocks WHERE period = :period',
  params: { period: 'integer' },
})

/** Makes a descending board with so many records, far faster than submissions could. */
export async function seedBoard(db: Database, id: string, records: number): Promise<void> {
  const period = await db.transaction(async (tx) => {
    const period = await beginPeriod(tx, id)
    const words = { sort: 'desc', operator: 'set', reset_schedule: null } as const
    const rest = { next_due_at_unix_ms: null, created_at_unix_ms: 1 }
    await leaderboardsStore.insert(tx, { id, ...words, period, ...rest })
    await leaderboardsStore.countRecords(tx, [{ id, delta: records }])
    await tx.run(emptyBlocks, { period })
    return period
  })
  const places: Uint8Array[] = []
  for (let first = 0; first < records; first += chunkRows) {
    const rows = Array.from({ length: Math.min(chunkRows, records - first) }, (_, at) => {
      const user_id = userOf(first + at)
      const standing = { user_id, score: BigInt(scoreOf(first + at)), subscore: 0n }
      const rest = { metadata: null, updated_at_unix_ms: 1_700_000_000_000, submissions: 1 }
      return { period, place: placeOf('desc', standing), ...standing, ...rest }
    })
    for (const { place } of rows) places.push(place)
    await db.transaction((tx) => leaderboardsStore.add(tx, rows))
  }
  places.sort(Buffer.compare)
  await db.transaction((tx) => blocksStore.insert(tx, blocksOver(places, period)))
}

function blocksOver(places: readonly Uint8Array[], period: number) {
  return ([1, 2, 3] as const).flatMap((level) => {
    const size = blockRecords[level]
    return Array.from({ length: Math.ceil(places.length / size) }, (_, at) => ({
      period,
      level,
      bound: boundAt(places, at * size),
      records: Math.min(size, places.length - at * size),
    }))
  })
}

function boundAt(places: readonly Uint8Array[], at: number): Uint8Array {
  const [last, next] = [places[at - 1], places[at]]
  return last && next ? boundBetween(last, next) : new Uint8Array(0)
}
