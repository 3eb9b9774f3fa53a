import { stringifyExact } from '@guildhall/contract'
import { absent, CopyPart, thaw } from './copy-part.ts'

/** Most bytes of a name as JSON text, with its colon and comma. */
export function nameBytesMax(name: string): number {
  return name.length * 6 + 4
}

/** Most bytes of a scalar as JSON text, with its comma: all numbers have the same. */
export function scalarBytesMax(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length * 6 + 3
    case 'number':
      return 25
    case 'bigint':
      return 21
    case 'boolean':
    case 'object':
      return 6
    default:
      return 0
  }
}

/** The bytes of a scalar as JSON text. */
export function scalarBytes(value: unknown): number {
  if (value === absent || typeof value === 'object') return value === null ? 4 : 0
  return typeof value === 'string' ? bytesOf(value) : String(value).length
}

/** Most bytes of a copy as JSON text: members that have gone do not count any more. */
export function copyBytesMax(value: unknown): number {
  if (!(value instanceof CopyPart)) {
    return typeof value === 'object' && value !== null ? bytesOf(value) : scalarBytesMax(value)
  }
  let bytes = 2
  for (const name of value.names ?? []) bytes += nameBytesMax(name)
  for (const member of value.all()) bytes += 1 + copyBytesMax(member)
  return bytes
}

/** The bytes of a copy as JSON text. */
export function copyBytes(value: unknown): number {
  return bytesOf(thaw(value))
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(stringifyExact(value))
}
