import type { z } from 'zod'
import { definitionOf, innermost, isFree, isInt64 } from '../../kernel/json/schema-walk.ts'

type Filter = (value: unknown) => unknown

/**
 * Compiles a schema into the function that prepares an answer for the script: declared members
 * only, 64-bit integers as bigint. It does not check the values, which are the node's own.
 */
export function answerFilter(schema: z.ZodType | undefined): Filter {
  return schema === undefined ? () => undefined : filterOf(schema)
}

function filterOf(schema: z.ZodType): Filter {
  const { shape, element, innerType, valueType, options, out, type } = definitionOf(schema)
  if (isFree(schema)) return same
  if (shape) return objectFilter(shape)
  if (element) return listFilter(filterOf(element))
  if (valueType) return recordFilter(filterOf(valueType))
  if (options) return unionFilter(options)
  if (innerType) return nullishFilter(filterOf(innerType))
  if (type === 'pipe') {
    if (isInt64(innermost(schema))) return toBigInt
    return out === undefined ? same : filterOf(out)
  }
  return same
}

const same: Filter = (value) => value

const toBigInt: Filter = (value) => (typeof value === 'number' ? BigInt(value) : value)

function nullishFilter(filter: Filter): Filter {
  return (value) => (value === null || value === undefined ? value : filter(value))
}

function objectFilter(shape: Record<string, z.ZodType>): Filter {
  const members = Object.entries(shape).map(([name, member]) => [name, filterOf(member)] as const)
  return (value) => {
    if (!isRecord(value)) return value
    const declared: Record<string, unknown> = {}
    for (const [name, filter] of members) {
      if (value[name] !== undefined) declared[name] = filter(value[name])
    }
    return declared
  }
}

function listFilter(filter: Filter): Filter {
  return (value) => (Array.isArray(value) ? value.map(filter) : value)
}

/** The server keeps records as a Map where the order of their names matters. */
function recordFilter(filter: Filter): Filter {
  return (value) => {
    const entries = value instanceof Map ? [...value] : Object.entries(isRecord(value) ? value : {})
    return Object.fromEntries(entries.map(([name, member]) => [name, filter(member)]))
  }
}

/** Objects of a union are distinguished by their members: the first that has all it declares. */
function unionFilter(options: readonly z.ZodType[]): Filter {
  const filters = options.map((option) => {
    const { shape } = definitionOf(option)
    return {
      names: Object.keys(shape ?? {}),
      filter: filterOf(option),
      isObject: shape !== undefined,
    }
  })
  return (value) => {
    if (!isRecord(value)) return value
    const found = filters.find(
      ({ isObject, names }) => isObject && names.every((name) => value[name] !== undefined),
    )
    return found ? found.filter(value) : value
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
