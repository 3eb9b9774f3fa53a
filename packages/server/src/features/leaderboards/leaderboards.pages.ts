import type { RankedRecord } from '@guildhall/contract'
import { readObject } from '../../kernel/json/free-json.ts'
import { WrittenJson } from '../../kernel/json/written-json.ts'
import { betweenColumns, betweenRecords, type PageRow } from './leaderboards.pages.store.ts'

/** A page as it is answered. */
export type RecordsPage = { board: string; total: number; items: RankedRecord[] }

export function pageOf({ board_id, skipped, total, records }: PageRow): RecordsPage {
  const items = textsOf(records).map((text, index) => {
    const [user_id, score, subscore, metadata, updated, submissions] = columnsOf(text)
    return {
      rank: skipped + 1 + index,
      user_id,
      score: BigInt(score),
      subscore: BigInt(subscore),
      metadata: metadata === '' ? null : readObject(metadata),
      updated_at_unix_ms: Number(updated),
      submissions: Number(submissions),
    }
  })
  return { board: board_id, total, items }
}

/** The same as JSON, without an object for each record and a value for each of its columns. */
export function writtenPageOf({ board_id, skipped, total, records }: PageRow): WrittenJson {
  let items = ''
  let rank = skipped
  for (const text of textsOf(records)) {
    const [user_id, score, subscore, metadata, updated, submissions] = columnsOf(text)
    rank += 1
    items += `${items === '' ? '' : ','}{"rank":${rank},"user_id":${JSON.stringify(user_id)}`
    items += `,"score":${score},"subscore":${subscore},"metadata":${metadata || 'null'}`
    items += `,"updated_at_unix_ms":${updated},"submissions":${submissions}}`
  }
  const board = JSON.stringify(board_id)
  return new WrittenJson(`{"board":${board},"total":${total},"items":[${items}]}`)
}

function textsOf(records: string | null): string[] {
  return records === null ? [] : records.split(betweenRecords)
}

type Columns = [
  user_id: string,
  score: string,
  subscore: string,
  metadata: string,
  updated: string,
  submissions: string,
]

function columnsOf(text: string): Columns {
  const columns = text.split(betweenColumns)
  if (columns.length !== 6) throw new Error('a stored record has a letter that it may not have')
  return columns as Columns
}
