import type { RankedRecord } from '@guildhall/contract'
import { readObject } from '../../kernel/json/free-json.ts'
import { WrittenJson } from '../../kernel/json/written-json.ts'
import { betweenRecords, type PageRow } from './leaderboards.pages.store.ts'

/** A page as it is answered. */
export type RecordsPage = { board: string; total: number; items: RankedRecord[] }

/** The numbers behind the metadata are the last ones, whatever that has in it. */
const written = new RegExp(
  '^"user_id":(".*?"),"score":(-?\\d+),"subscore":(-?\\d+),"metadata":(.*)' +
    ',"updated_at_unix_ms":(-?\\d+),"submissions":(\\d+)$',
  's',
)

/** The page as objects, with exact 64-bit integers. */
export function pageOf({ board_id, skipped, total, records }: PageRow): RecordsPage {
  const items = textsOf(records).map((text, index) => recordOf(text, skipped + 1 + index))
  return { board: board_id, total, items }
}

function recordOf(text: string, rank: number): RankedRecord {
  const [, user_id, score, subscore, metadata, updated, submissions] = written.exec(text) ?? []
  if (!(user_id && score && subscore && metadata)) throw new Error('a stored record is no record')
  return {
    rank,
    user_id: JSON.parse(user_id),
    score: BigInt(score),
    subscore: BigInt(subscore),
    metadata: metadata === 'null' ? null : readObject(metadata),
    updated_at_unix_ms: Number(updated),
    submissions: Number(submissions),
  }
}

/** The page as the JSON of the route, without an object for each record. */
export function writtenPageOf({ board_id, skipped, total, records }: PageRow): WrittenJson {
  let items = ''
  let rank = skipped
  for (const text of textsOf(records)) {
    rank += 1
    items += `${items === '' ? '' : ','}{"rank":${rank},${text}}`
  }
  const board = JSON.stringify(board_id)
  return new WrittenJson(`{"board":${board},"total":${total},"items":[${items}]}`)
}

function textsOf(records: string | null): string[] {
  return records === null ? [] : records.split(betweenRecords)
}
