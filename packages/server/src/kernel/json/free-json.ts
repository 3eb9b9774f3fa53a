import { type JsonObject, parseExact } from '@guildhall/contract'

/**
 * The object that a column holds as JSON text, with exact 64-bit integers.
 *
 * @throws Error when the text is none: only objects are stored
 */
export function readObject(text: string): JsonObject {
  const value = parseExact(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as JsonObject
  }
  throw new Error('a stored value is no object')
}
