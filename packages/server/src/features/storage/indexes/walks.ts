import type { storageScript } from '@guildhall/contract'
import type { z } from 'zod'
import { refuse } from '../../../kernel/failure.ts'
import { indexedText, type StorageIndex } from './indexes.ts'
import { aboveAll, ascending, behind, byBytes, type Direction, descending } from './ordered-text.ts'

/** What the fields must be equal to, or, of one ordered field, between. */
export type IndexFilters = z.output<
  (typeof storageScript)['storage_index_query']['args']['filters']
>
export type IndexRange = Extract<IndexFilters[string], object>

/** The entries that a query goes through, in their order. */
export type Walk = {
  /** Of the entries: the field with its direction. */
  field: string
  /** The first text, and the one that is not in any more. */
  from: string
  below: string
}

/**
 * The walk of a query with a range or an order; undefined for one that has neither. A range alone
 * ascends.
 */
export function walkOf(
  index: StorageIndex,
  ranges: readonly (readonly [field: string, range: IndexRange])[],
  order: string | undefined,
): Walk | undefined {
  if (ranges.length > 1) throw refuse.invalid('a query has at most one range')
  const [ranged, range] = ranges[0] ?? []
  const direction = order?.startsWith('-') ? descending : ascending
  const field = order?.replace(/^-/, '') ?? ranged
  if (field === undefined) return undefined
  if (!index.ordered.includes(field) || (ranged !== undefined && ranged !== field)) {
    throw refuse.invalid('a range and an order are for one ordered field of the index')
  }
  const bounds = range === undefined ? { from: '', below: aboveAll } : boundsOf(range, direction)
  return { field: direction.fieldOf(field), ...bounds }
}

function boundsOf(range: IndexRange, direction: Direction): Omit<Walk, 'field'> {
  const given = Object.values(range).filter((value) => value !== undefined && value !== null)
  const [first] = given
  if (first === undefined) throw refuse.invalid('a range has a bound')
  if (given.some((value) => (typeof value === 'string') !== (typeof first === 'string'))) {
    throw refuse.invalid('the bounds of a range are numbers or texts')
  }
  const [from, below] = direction.prefixOf(first)
  const { gte, gt, lte, lt } = range
  const at = (value: string | number | bigint | null | undefined) => textOf(value, direction)
  const after = (value: string | number | bigint | null | undefined) => {
    const text = at(value)
    return text === undefined ? undefined : behind(text)
  }
  const [firsts, ends] =
    direction === ascending
      ? [
          [at(gte), after(gt)],
          [after(lte), at(lt)],
        ]
      : [
          [at(lte), after(lt)],
          [after(gte), at(gt)],
        ]
  return { from: largest([from, ...firsts]), below: smallest([below, ...ends]) }
}

function textOf(value: string | number | bigint | null | undefined, direction: Direction) {
  if (value === undefined || value === null) return undefined
  if (indexedText(value) === undefined) {
    throw refuse.invalid('a bound is a string of at most 256 bytes or a number')
  }
  return direction.textOf(value)
}

function largest(texts: readonly (string | undefined)[]): string {
  return (
    texts
      .filter((text) => text !== undefined)
      .toSorted(byBytes)
      .at(-1) ?? ''
  )
}

function smallest(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).toSorted(byBytes)[0] ?? ''
}
