import { WrittenJson } from '../../../kernel/json/written-json.ts'
import { betweenRecords, type WrittenPageRow } from './pages.store.ts'

/** A page as the JSON of its route, without an object for each record. */
export function writtenPageOf({ board_id, skipped, total, records }: WrittenPageRow): WrittenJson {
  let items = ''
  let rank = skipped
  for (const text of records?.split(betweenRecords) ?? []) {
    rank += 1
    items += `${items === '' ? '' : ','}{"rank":${rank},${text}}`
  }
  const board = JSON.stringify(board_id)
  return new WrittenJson(`{"board":${board},"total":${total},"items":[${items}]}`)
}
