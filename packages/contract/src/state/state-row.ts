import { powersOfTen, stepMax } from './state-format.ts'

/*
 * Numbers that move are most of what a game sends. Of such a member a box keeps m and the place,
 * with e in its lowest four bits, in a row of doubles, two by two. So a step needs neither the slot
 * nor an object: with many rooms the time goes into fetching memory.
 */

/** Members at later places have no place in a row. */
export const rowMax = 32

/** Of doubles from the start: the engine keeps those without an object for each. */
export function newRow(members: number): number[] {
  const row = [0.5]
  for (let n = 0; n < 2 * Math.min(rowMax, members); n += 1) row[n] = Number.NaN
  return row
}

export function codeOf(place: number, e: number): number {
  return 16 * place + e
}

type Rowed = { readonly row: number[] | undefined; giveBackAt(at: number): void }

/** Writes the step of a number; false where it is not in the row, or its change is no step. */
export function movesInRow(
  box: Rowed,
  at: number,
  next = Number.NaN,
  list: { grow(place: number, step: number): void },
): boolean {
  const { row } = box
  const m = row?.[2 * at]
  if (row === undefined || m === undefined || Number.isNaN(m)) return false
  const code = row[2 * at + 1] ?? 0
  const scaled = Math.round(Math.abs(next) * (powersOfTen[code & 15] ?? 1))
  const after = next < 0 ? 0 - scaled : scaled
  const step = after - m
  // Also for what is no number any more.
  if (!(Math.abs(step) < stepMax && scaled <= Number.MAX_SAFE_INTEGER)) {
    box.giveBackAt(at)
    return false
  }
  if (step === 0) return true
  list.grow(code >> 4, step)
  row[2 * at] = after
  return true
}
