import { type ScriptFunction, scriptTypes } from '@guildhall/contract'
import {
  definitionOf,
  innermost,
  isFree,
  isInt64,
  type SchemaDefinition,
} from '../../packages/server/src/kernel/json/schema-walk.ts'

type Schema = ScriptFunction['args'][string]

/** What goes into a function, or comes out of it. */
export type Direction = 'input' | 'output'

const names = new Map(Object.entries(scriptTypes()).map(([name, schema]) => [schema, name]))

/** What the declarations call a named shape. */
export function typeName(name: string): string {
  return `Guildhall${name}`
}

/** A schema as a TypeScript type. `own` is the shape being declared, which is written out. */
export function typeText(schema: Schema, direction: Direction, own?: Schema): string {
  const name = schema === own ? undefined : names.get(schema)
  if (name !== undefined) return typeName(name)
  const { ts } = schema.meta() ?? {}
  if (typeof ts === 'string') return ts
  if (isFree(schema)) return 'GuildhallJsonObject'
  const inner = (each: Schema) => typeText(each, direction, own)
  const definition = definitionOf(schema)
  const { shape, element, innerType, valueType, options, entries, values } = definition
  if (shape) return objectText(shape, direction, own)
  if (element) return `${grouped(inner(element))}[]`
  if (valueType) return `{ [name: string]: ${inner(valueType)} }`
  if (options) return [...new Set(options.map(inner))].join(' | ')
  if (entries) return Object.values(entries).map(literalText).join(' | ')
  if (values) return values.map(literalText).join(' | ')
  if (definition.type === 'nullable' && innerType) return `${inner(innerType)} | null`
  if (innerType) return inner(innerType)
  if (definition.type === 'pipe') return pipeText(schema, definition, { direction, inner })
  return scalarText(definition.type)
}

function pipeText(
  schema: Schema,
  { in: from, out }: SchemaDefinition,
  { direction, inner }: { direction: Direction; inner(each: Schema): string },
): string {
  if (isInt64(innermost(schema))) return direction === 'input' ? 'bigint | number' : 'bigint'
  if (out !== undefined && hasShape(out)) return inner(out)
  return from === undefined ? 'unknown' : inner(from)
}

/** A transform has no type of its own; what it comes from has. */
function hasShape(schema: Schema): boolean {
  return definitionOf(schema).type !== 'transform'
}

function objectText(
  shape: Record<string, Schema>,
  direction: Direction,
  own: Schema | undefined,
): string {
  const members = Object.entries(shape).map(([name, member]) => {
    return `${name}${isOptional(member, direction) ? '?' : ''}: ${typeText(member, direction, own)}`
  })
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`
}

/** Whether an argument or member may be missing. */
export function isOptional(schema: Schema, direction: Direction): boolean {
  if (direction === 'output') return schema._zod.optout === 'optional'
  return schema.safeParse(undefined).success
}

function scalarText(type: string): string {
  switch (type) {
    case 'int':
    case 'number':
      return 'number'
    case 'string':
    case 'boolean':
    case 'bigint':
    case 'null':
    case 'never':
      return type
    default:
      return 'unknown'
  }
}

function literalText(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function grouped(text: string): string {
  return text.includes(' | ') ? `(${text})` : text
}
