import { z } from 'zod'
import { int64Max, int64Min } from './int64.ts'

/**
 * A signed 64-bit integer, exact in both directions: on the wire a JSON integer with all its
 * digits, in the code a bigint. A sender may use a number as long as it is a safe integer.
 */
export const int64 = z
  .custom<number | bigint>(isInt64, { error: 'must be a signed 64-bit integer' })
  .meta({ int64: true })
  .transform(BigInt)
  .meta({ jsonSchema: { type: 'integer', format: 'int64' } })

/** A 64-bit integer other than 0. */
export const int64Delta = int64.refine((value) => value !== 0n, { error: 'must not be 0' })

/** How many rows to skip, in a query: decimal digits, default 0. */
export const offset = safeDecimal('must be a decimal integer up to 2^53 - 1')
  .default(0)
  .meta({ jsonSchema: { type: 'integer', minimum: 0, default: 0 } })

/** Only rows with a smaller id, in a query: decimal digits. */
export const before = safeDecimal('must be a decimal integer up to 2^53 - 1')
  .optional()
  .meta({ jsonSchema: { type: 'integer', minimum: 0 } })

/** A time in a query: decimal digits of Unix milliseconds. */
export const queryTime = safeDecimal('must be Unix milliseconds in decimal digits')
  .optional()
  .meta({ jsonSchema: { type: 'integer', minimum: 0 } })

/** An integer id in a path: 1 to 16 decimal digits without sign, at most 2^53 - 1. */
export const pathInteger = safeDecimal('must be 1..16 decimal digits').meta({
  jsonSchema: { type: 'integer', minimum: 0 },
})

/**
 * An object of 64-bit integers whose names are the callers' own. The server gives it as a Map: an
 * object would put numeric names first, whatever the order of the rest.
 */
export const int64ByName = z
  .custom<Int64ByName>((value) => typeof value === 'object' && value !== null)
  .transform((given) => (given instanceof Map ? Object.fromEntries(given) : given))
  .pipe(z.record(z.string(), int64))
  .meta({
    jsonSchema: { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
  })

type Int64ByName = ReadonlyMap<string, bigint> | Readonly<Record<string, number | bigint>>

/** One page of a list whose total is counted before paging. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.strictObject({ items: z.array(item), total: z.int().min(0) })
}

function safeDecimal(rule: string) {
  return z
    .string()
    .regex(/^[0-9]{1,16}$/, { error: rule })
    .transform(Number)
    .refine(Number.isSafeInteger, { error: rule })
}

function isInt64(value: unknown): boolean {
  if (typeof value === 'bigint') return value >= int64Min && value <= int64Max
  return Number.isSafeInteger(value)
}
