import type { Json, JsonObject } from '@guildhall/contract'
import type { TicketProperties } from '../../../../kernel/play/room-hooks.ts'
import { keptQuery } from '../../query/kept-query.ts'
import { parseQuery, type Query, type QueryProblem } from '../../query/query.ts'
import { isField } from '../../query/query-tokens.ts'

/** What a player asks the matchmaker for. */
export type Criteria = {
  query: Query
  /** Stands for `query` once the ticket has waited. */
  wideQuery: Query
  properties: TicketProperties
  minCount: number
  maxCount: number
  countMultiple: number
  backfill: boolean
  ttlMs: number
}

type Ttl = { default_ttl_ms: number; max_ttl_ms: number }

const countMax = 255
const propertiesMax = 64
const textBytesMax = 256

/** Reads the payload of `matchmaker.add`; a text is the refusal. */
export function readCriteria(payload: JsonObject, ttl: Ttl): Criteria | string {
  const query = readQuery(orElse(payload.query, ''))
  const wideQuery = payload.wide_query === undefined ? query : readQuery(payload.wide_query)
  if ('problem' in query) return invalidQuery(query)
  if ('problem' in wideQuery) return invalidQuery(wideQuery)
  const properties = readProperties(orElse(payload.properties, {}))
  if (properties === undefined) return 'invalid properties'
  const counts = readCounts(payload)
  if (counts === undefined) return 'invalid count'
  const ttlMs = orElse(payload.ttl_ms, ttl.default_ttl_ms)
  if (!isWithin(ttlMs, [1, ttl.max_ttl_ms])) return 'invalid ttl'
  const backfill = orElse(payload.backfill, true)
  if (typeof backfill !== 'boolean') return 'invalid JSON body'
  return { query, wideQuery, properties, ...counts, backfill, ttlMs }
}

/** The criteria of a ticket that waits. */
export function keptCriteria(criteria: Criteria): Criteria {
  const query = keptQuery(criteria.query)
  const isWidening = criteria.wideQuery !== criteria.query
  return { ...criteria, query, wideQuery: isWidening ? keptQuery(criteria.wideQuery) : query }
}

export function readQuery(value: unknown): Query | QueryProblem {
  return typeof value === 'string' ? parseQuery(value) : { problem: 'it is no text' }
}

/** The refusal of a query, which says where and why. */
export function invalidQuery({ problem }: QueryProblem): string {
  return `invalid query: ${problem}`
}

/** Of the values nothing is copied: nobody else has the payload. */
export function readProperties(value: unknown): TicketProperties | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value)
  const areSound = entries.every(([name, property]) => isField(name) && isProperty(property))
  return areSound && entries.length <= propertiesMax ? (value as TicketProperties) : undefined
}

/** One of the properties; names of the language's own are names like any other. */
export function propertyOf(properties: TicketProperties, field: string): unknown {
  return Object.hasOwn(properties, field) ? properties[field] : undefined
}

/** The default of a member that is left out; null is a value, of the wrong type. */
function orElse(value: Json | undefined, fallback: Json): Json {
  return value === undefined ? fallback : value
}

function readCounts(payload: JsonObject) {
  const minCount = orElse(payload.min_count, 2)
  const maxCount = orElse(payload.max_count, minCount)
  const countMultiple = orElse(payload.count_multiple, 1)
  if (!isWithin(minCount, [2, countMax]) || !isWithin(countMultiple, [1, countMax])) {
    return undefined
  }
  if (!isWithin(maxCount, [minCount, countMax])) return undefined
  const largest = Math.floor(maxCount / countMultiple) * countMultiple
  return largest >= minCount ? { minCount, maxCount, countMultiple } : undefined
}

function isProperty(value: unknown): boolean {
  if (typeof value === 'string') return Buffer.byteLength(value) <= textBytesMax
  if (typeof value === 'bigint') return Number.isFinite(Number(value))
  return typeof value === 'number' && Number.isFinite(value)
}

function isWithin(value: unknown, [min, max]: readonly [number, number]): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
