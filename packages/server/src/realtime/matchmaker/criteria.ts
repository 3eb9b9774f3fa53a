import type { JsonObject } from '@guildhall/contract'
import { parseQuery, type Query } from '../query/query.ts'
import { isField } from '../query/query-tokens.ts'

/** What a ticket or an offer says about itself. */
export type Properties = ReadonlyMap<string, string | number>

/** What a player asks the matchmaker for. */
export type Criteria = {
  query: Query
  /** Stands for `query` once the ticket has waited; undefined = the same. */
  wideQuery: Query | undefined
  properties: Properties
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
  const query = readQuery(payload.query ?? '')
  const wideQuery = payload.wide_query === undefined ? query : readQuery(payload.wide_query)
  if (query === undefined || wideQuery === undefined) return 'invalid query'
  const properties = readProperties(payload.properties ?? {})
  if (properties === undefined) return 'invalid properties'
  const counts = readCounts(payload)
  if (counts === undefined) return 'invalid count'
  const ttlMs = payload.ttl_ms ?? ttl.default_ttl_ms
  if (!isWithin(ttlMs, [1, ttl.max_ttl_ms])) return 'invalid ttl'
  const backfill = payload.backfill ?? true
  if (typeof backfill !== 'boolean') return 'invalid JSON body'
  return { query, wideQuery, properties, ...counts, backfill, ttlMs }
}

export function readQuery(value: unknown): Query | undefined {
  return typeof value === 'string' ? parseQuery(value) : undefined
}

export function readProperties(value: unknown): Properties | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const properties = new Map<string, string | number>()
  for (const [name, property] of Object.entries(value)) {
    if (!isField(name) || !isProperty(property)) return undefined
    properties.set(name, property)
  }
  return properties.size <= propertiesMax ? properties : undefined
}

function readCounts(payload: JsonObject) {
  const minCount = payload.min_count ?? 2
  const maxCount = payload.max_count ?? minCount
  const countMultiple = payload.count_multiple ?? 1
  if (!isWithin(minCount, [2, countMax]) || !isWithin(countMultiple, [1, countMax])) {
    return undefined
  }
  if (!isWithin(maxCount, [minCount, countMax])) return undefined
  const largest = Math.floor(maxCount / countMultiple) * countMultiple
  return largest >= minCount ? { minCount, maxCount, countMultiple } : undefined
}

function isProperty(value: unknown): value is string | number {
  if (typeof value === 'string') return Buffer.byteLength(value) <= textBytesMax
  return typeof value === 'number' && Number.isFinite(value)
}

function isWithin(value: unknown, [min, max]: readonly [number, number]): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
