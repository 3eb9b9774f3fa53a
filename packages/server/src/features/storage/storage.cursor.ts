import { isUtf8 } from 'node:buffer'
import { storageName, storageOwner } from '@guildhall/contract'
import { sha256 } from '../../kernel/auth/sha256.ts'
import { refuse } from '../../kernel/failure.ts'

/** The last row of a page: the next one begins behind it. */
export type Position = {
  user_id: string
  key: string
  /** Where the list is ordered by a value: its text. */
  value?: string | undefined
}

/** Every row comes behind it: an owner may be empty, a key never is. */
export const start: Position = { user_id: '', key: '' }

const digestBytes = 12

/**
 * The cursor behind a row of a list. `list` names the list with all that chooses its rows; in
 * another list the cursor is refused. At most 2,300 characters.
 */
export function cursorOf(list: readonly string[], { user_id, key, value }: Position): string {
  const ordered = value === undefined ? [] : [withLength(value)]
  const place = Buffer.concat([...ordered, withLength(user_id), Buffer.from(key)])
  return Buffer.concat([seal(list, place), place]).toString('base64url')
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/**
 * Reads a cursor of the list, which is ordered by a value or not.
 *
 * @throws Failure `invalid_request` for any other text
 */
export function positionOf(
  list: readonly string[],
  cursor: string | undefined,
  isOrdered = false,
): Position {
  if (cursor === undefined) return start
  if (cursor.length > cursorCharactersMax) throw notOfTheList()
  const bytes = Buffer.from(cursor, 'base64url')
  const place = bytes.subarray(digestBytes)
  // Several texts have the same bytes; only one of them was ever given.
  const isWhole = bytes.toString('base64url') === cursor && place.length > 2
  if (!isWhole || !seal(list, place).equals(bytes.subarray(0, digestBytes))) throw notOfTheList()
  if (!isOrdered) return expectPosition(placeIn(place))
  const value = textIn(place)
  // Behind it at least the length of an owner follows.
  const rest = place.subarray(2 + place.readUInt16BE())
  if (rest.length < 2 || value.includes('\0')) throw notOfTheList()
  return { ...expectPosition(placeIn(rest)), value }
}

function placeIn(bytes: Buffer): Position {
  const key = bytes.subarray(2 + bytes.readUInt16BE())
  if (!isUtf8(key)) throw notOfTheList()
  return { user_id: textIn(bytes), key: key.toString() }
}

/** The text whose length stands before it. */
function textIn(bytes: Buffer): string {
  const text = bytes.subarray(2, 2 + bytes.readUInt16BE())
  if (!isUtf8(text)) throw notOfTheList()
  return text.toString()
}

/** The seal has no secret, so anybody can seal a place that no object has. */
function expectPosition(position: Position): Position {
  const { user_id, key } = position
  // An owner that runs past the end leaves no key.
  const isPlace = storageName.safeParse(key).success
  if (!isPlace || (user_id !== '' && !storageOwner.safeParse(user_id).success)) throw notOfTheList()
  return position
}

const cursorCharactersMax = 4096

function seal(list: readonly string[], place: Buffer): Buffer {
  const text = JSON.stringify([...list, place.toString('latin1')])
  return sha256(text).subarray(0, digestBytes)
}

function notOfTheList() {
  return refuse.invalid('the cursor is not one of this list')
}
