import { isUtf8 } from 'node:buffer'
import { storageName, storageOwner } from '@guildhall/contract'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { refuse } from '../../kernel/failure.ts'

/** The last row of a page: the next one begins behind it. */
export type Position = { user_id: string; key: string }

/** Every row comes behind it: an owner may be empty, a key never is. */
export const start: Position = { user_id: '', key: '' }

const digestBytes = 12

/**
 * The cursor behind a row of a list. `list` names the list with all that chooses its rows; in
 * another list the cursor is refused. At most 1,580 characters.
 */
export function cursorOf(list: readonly string[], { user_id, key }: Position): string {
  const owner = Buffer.from(user_id)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(owner.length)
  const place = Buffer.concat([length, owner, Buffer.from(key)])
  return Buffer.concat([seal(list, place), place]).toString('base64url')
}

/** Reads a cursor of the list. @throws Failure `invalid_request` for any other text */
export function positionOf(list: readonly string[], cursor: string | undefined): Position {
  if (cursor === undefined) return start
  if (cursor.length > cursorCharactersMax) throw notOfTheList()
  const bytes = Buffer.from(cursor, 'base64url')
  const place = bytes.subarray(digestBytes)
  // Several texts have the same bytes; only one of them was ever given.
  const isWhole = bytes.toString('base64url') === cursor && place.length > 2
  if (!isWhole || !seal(list, place).equals(bytes.subarray(0, digestBytes))) throw notOfTheList()
  const ownerEnd = 2 + place.readUInt16BE()
  const position = { user_id: place.subarray(2, ownerEnd), key: place.subarray(ownerEnd) }
  if (!isUtf8(position.user_id) || !isUtf8(position.key)) throw notOfTheList()
  return expectPosition({ user_id: position.user_id.toString(), key: position.key.toString() })
}

/** The seal has no secret, so anybody can seal a place that no object has. */
function expectPosition(position: Position): Position {
  const { user_id, key } = position
  // An owner that runs past the end leaves no key.
  const isPlace = storageName.safeParse(key).success
  if (!isPlace || (user_id !== '' && !storageOwner.safeParse(user_id).success)) throw notOfTheList()
  return position
}

const cursorCharactersMax = 2048

function seal(list: readonly string[], place: Buffer): Buffer {
  const text = JSON.stringify([...list, place.toString('latin1')])
  return sha256(text).subarray(0, digestBytes)
}

function notOfTheList() {
  return refuse.invalid('the cursor is not one of this list')
}
