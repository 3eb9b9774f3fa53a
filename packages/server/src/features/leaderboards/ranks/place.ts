import type { BoardSort } from '@guildhall/contract'

/** What decides where a record stands. */
export type Standing = { score: bigint; subscore: bigint; user_id: string }

const signBit = 2n ** 63n

/**
 * Where a record stands, as bytes that compare as the records rank: 8 bytes of the score, 8 of the
 * subscore, the better one first, then the user id, which breaks ties ascending under both sorts.
 */
export function placeOf(sort: BoardSort, { score, subscore, user_id }: Standing): Uint8Array {
  const place = Buffer.allocUnsafe(16 + Buffer.byteLength(user_id))
  place.writeBigUInt64BE(ordered(sort, score), 0)
  place.writeBigUInt64BE(ordered(sort, subscore), 8)
  place.write(user_id, 16)
  return place
}

/** The fewest bytes that come behind one place and not behind the next. */
export function boundBetween(place: Uint8Array, next: Uint8Array): Uint8Array {
  const same = next.findIndex((byte, at) => byte !== place[at])
  return next.subarray(0, same + 1)
}

/** A text that stands for these bytes in a Map, and no other bytes. */
export function textOfPlace(place: Uint8Array): string {
  return Buffer.from(place.buffer, place.byteOffset, place.byteLength).toString('latin1')
}

/** An unsigned number that grows from the best score to the worst. */
function ordered(sort: BoardSort, score: bigint): bigint {
  const ascending = BigInt.asUintN(64, score ^ signBit)
  return sort === 'asc' ? ascending : BigInt.asUintN(64, ~ascending)
}
