import { type JsonObject, parseExact } from '@guildhall/contract'
import { isObject } from '../rooms/requests/label-answers.ts'
import type { Caller } from './caller.ts'

/** A method that the service answers itself. Payload and reply are JSON objects. */
export type BuiltInMethod = {
  /** The fields that a payload may have. */
  fields: readonly string[]
  /** A text is a refusal; it must be one of the fixed texts. */
  call(caller: Caller, payload: JsonObject): BuiltInAnswer | Promise<BuiltInAnswer>
}

/** `after` runs when the reply is queued. */
export type BuiltInAnswer = { reply: object; after?: () => void } | { refusal: string }

export type BuiltInMethods = Readonly<Record<string, BuiltInMethod>>

/**
 * The payload as an object of these fields; undefined for everything else. Integers beyond 2^53 are
 * bigint.
 */
export function readPayload(bytes: Uint8Array, fields: readonly string[]): JsonObject | undefined {
  try {
    const value: unknown = parseExact(decoder.decode(bytes))
    if (!isObject(value)) return undefined
    return Object.keys(value).every((name) => fields.includes(name)) ? value : undefined
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
