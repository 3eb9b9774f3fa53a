import type { JsonObject } from '@guildhall/contract'
import { readJson } from './json-reader.ts'

/** Any JSON value with exact 64-bit integers: free-form objects, and metadata to be stored. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  if (typeof value === 'object' && value !== null) return writeObject(value)
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError('expected a finite number to write')
  }
  const text: string | undefined = JSON.stringify(value)
  if (text === undefined) throw new TypeError(`expected JSON to write, got ${typeof value}`)
  return text
}

/**
 * The object that a column holds as JSON text, with exact 64-bit integers.
 *
 * @throws Error when the text is none: only objects are stored
 */
export function readObject(text: string): JsonObject {
  const { value } = readJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new Error('a stored value is no object')
}

function writeObject(value: object): string {
  let text = ''
  for (const [name, member] of value instanceof Map ? value : Object.entries(value)) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${writeJson(member)}`
  }
  return `{${text}}`
}
