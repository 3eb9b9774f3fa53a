import { parseExact, stringifyExact } from '@guildhall/contract/wire'
import { GuildhallError, invalidArgument } from '../../error.ts'

/** An application envelope that arrived. */
export type Message<Body = unknown> = {
  readonly kind: number
  readonly bytes: Uint8Array
  /** @throws GuildhallError `malformed_reply` when the bytes are no UTF-8 */
  text(): string
  /**
   * Integers beyond 2^53 are bigint.
   *
   * @throws GuildhallError `malformed_reply` when the bytes are no JSON
   */
  json(): Body
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function messageOf(kind: number, bytes: Uint8Array): Message {
  return { kind, bytes, text: () => readText(bytes), json: () => readJson(bytes) }
}

/** @throws GuildhallError `invalid_argument` when JSON cannot say the payload */
export function encodePayload(payload: unknown): Uint8Array {
  if (payload instanceof Uint8Array) return payload
  // As JSON they would be objects without their bytes.
  if (payload instanceof ArrayBuffer || ArrayBuffer.isView(payload)) {
    throw invalidArgument('bytes are sent as a Uint8Array')
  }
  if (payload === undefined) return new Uint8Array()
  if (typeof payload === 'string') return encoder.encode(payload)
  try {
    return encoder.encode(stringifyExact(payload))
  } catch (cause) {
    throw invalidArgument('the payload cannot be written as JSON', cause)
  }
}

export function readText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new GuildhallError('malformed_reply', 'not UTF-8', { cause })
  }
}

/** @param hint What else might read it, behind the refusal */
export function readJson(bytes: Uint8Array, hint = ''): unknown {
  const text = readText(bytes)
  try {
    return parseExact(text)
  } catch (cause) {
    throw new GuildhallError('malformed_reply', `not JSON${hint}`, { cause })
  }
}

export function utf8Length(text: string): number {
  return encoder.encode(text).length
}
