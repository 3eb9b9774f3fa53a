/** The first byte of ROOM_STATE: the version in the low four bits, then these. */
export const stateFlags = { version: 1, full: 16, anew: 32, own: 64 } as const

/** Of a message with changes: the flags and seq. */
export const changesHeadBytes = 5

/** What an entry of a list of changes begins with: `type + 16 * place`, or the type alone. */
export const stateTypes = {
  null: 0,
  false: 1,
  true: 2,
  /** Numbers at this place and the next ones grow. */
  grow: 3,
  /** A number as m / 10^e. */
  decimal: 4,
  double: 5,
  text: 6,
  json: 7,
  /** The name is gone. */
  gone: 8,
  /** The next place. */
  place: 9,
  /** The next box. */
  box: 10,
  /** How many elements an array has. */
  length: 11,
} as const

/** A numbering begins anew before it has as many places. */
export const statePlacesMax = 65_536

/** Most decimals of a number that travels as m / 10^e. */
export const stateDecimalsMax = 15

export const powersOfTen: readonly number[] = Array.from({ length: 16 }, (_, n) => 10 ** n)

/** A larger step is sent as the number itself: its zigzag would not be exact. */
export const stepMax = 2 ** 51

/** Most levels of objects and arrays. */
export const stateDepthMax = 64
