import { z } from 'zod'
import { freeObject, optional, shared } from '../values/fields.ts'
import type { Json, JsonObject } from '../values/json.ts'

/** Bytes of a body; a string stands for its UTF-8 bytes. Script hosts give `Uint8Array`. */
export const bytes = z
  .custom<Uint8Array | string>(
    (value) => typeof value === 'string' || value instanceof Uint8Array,
    { error: 'must be bytes or a string' },
  )
  .meta({ ts: 'GuildhallBytes' })

/** Bytes that a function returns. */
export const resultBytes = z
  .custom<Uint8Array>((value) => value instanceof Uint8Array)
  .meta({ ts: 'Uint8Array' })

/** Any JSON value. */
export const json = z.custom<Json>((value) => value !== undefined).meta({ ts: 'GuildhallJson' })

/**
 * An object of JSON that the server keeps. What a script gives may hold more than what a request
 * can: bytes, and strings with unpaired surrogates, which have no UTF-8.
 */
export const keptObject = z
  .custom<JsonObject>((value) => freeObject.safeParse(value).success && isKept(value), {
    error: 'must be an object of JSON',
  })
  .meta({ jsonSchema: { type: 'object', additionalProperties: true }, free: true })

function isKept(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (value instanceof Uint8Array) return false
  if (Array.isArray(value)) return value.every(isKept)
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isKept(member))
}

/** A function of the script that takes nothing. */
export const task = z
  .custom<() => unknown>((value) => typeof value === 'function', { error: 'must be a function' })
  .meta({ ts: '() => GuildhallDone' })

/** The id of a participant or a room, up to 2^53 - 1. */
export const participantId = z.int().min(0)
export const roomId = z.int().min(0)

/** A row's id in an argument. */
export const rowId = z.int().min(0)

/** A page size as the console takes it: 0 is 1, more than `cap` is `cap`, below 0 is refused. */
export const pageLimit = shared(({ default: fallback, cap }: { default: number; cap: number }) =>
  z
    .int()
    .min(0)
    .transform((value) => Math.min(Math.max(value, 1), cap))
    .nullish()
    .transform((value) => value ?? fallback)
    .meta({
      jsonSchema: { type: ['integer', 'null'], minimum: 1, maximum: cap, default: fallback },
    }),
)

/** A page size of what the console does not show: one beyond 1..`cap` is refused. */
export const strictLimit = shared(({ default: fallback, cap }: { default: number; cap: number }) =>
  z
    .int()
    .min(1)
    .max(cap)
    .nullish()
    .transform((value) => value ?? fallback)
    .meta({ description: `1..${cap}, default ${fallback}` }),
)

/** How many rows to skip. */
export const pageOffset = z
  .int()
  .min(0)
  .nullish()
  .transform((value) => value ?? 0)

/** Only rows before this id or number. */
export const pageBefore = optional(z.int().min(0))

/** Of a function that answers JSON as well, see `ScriptFunction`. */
export const raw = optional(z.boolean()).meta({ description: 'Answers bytes of JSON' })

/** An object of options as the last argument; it may be missing. Unknown members are refused. */
export function options<S extends z.ZodRawShape>(shape: S) {
  const schema = z.strictObject(shape)
  return schema.prefault({} as z.input<typeof schema>)
}
