import type { ScriptFunction } from '@guildhall/contract'
import type { z } from 'zod'
import { definitionOf, innermost, isFree, isInt64 } from '../../kernel/json/schema-walk.ts'

/**
 * What a value of the script API is, for engines whose language says less or more than JavaScript:
 * text and bytes are one type in Lua, a null has no place in its tables.
 */
export type Shape = Nature & {
  /** Null is a value here; elsewhere the language's own "nothing" is an absent one. */
  readonly takesNull: boolean
  readonly mayBeAbsent: boolean
}

type Nature =
  | { readonly kind: PlainKind }
  | { readonly kind: 'object'; readonly members: { readonly [name: string]: Shape } }
  | { readonly kind: 'list' | 'record'; readonly each: Shape }
  | { readonly kind: 'one of'; readonly options: readonly Shape[] }

/** In `json` members and nulls are the author's own. */
type PlainKind =
  | 'bytes'
  | 'text'
  | 'number'
  | 'integer'
  | 'int64'
  | 'boolean'
  | 'function'
  | 'json'
  | 'null'
  | 'never'

/** A function of the table as an engine converts its arguments and its answer. */
export type RowShape = {
  readonly args: readonly { readonly name: string; readonly shape: Shape }[]
  /** Whether the last argument is an object of options, which some languages pass by name. */
  readonly hasOptions: boolean
  readonly ok: Shape | undefined
}

export function rowShape({ args, ok }: Pick<ScriptFunction, 'args' | 'ok'>): RowShape {
  const named = Object.entries(args).map(([name, schema]) => ({ name, shape: shapeOf(schema) }))
  return {
    args: named,
    hasOptions: named.at(-1)?.name === 'options',
    ok: ok === undefined ? undefined : shapeOf(ok),
  }
}

/** Whether bytes have a place in the arguments of a function. */
export function takesBytes({ args }: Pick<ScriptFunction, 'args'>): boolean {
  return Object.values(args).some((schema) => hasBytes(shapeOf(schema)))
}

function hasBytes(shape: Shape): boolean {
  switch (shape.kind) {
    case 'bytes':
      return true
    case 'object':
      return Object.values(shape.members).some(hasBytes)
    case 'list':
    case 'record':
      return hasBytes(shape.each)
    case 'one of':
      return shape.options.some(hasBytes)
    default:
      return false
  }
}

/** The shape of one schema of the table. */
export function shapeOf(schema: z.ZodType): Shape {
  return {
    takesNull: schema.safeParse(null).success || hasNull(schema),
    mayBeAbsent: schema.safeParse(undefined).success,
    ...natureOf(schema),
  }
}

function natureOf(schema: z.ZodType): Nature {
  const written = writtenKinds[String(schema.meta()?.ts)]
  if (written !== undefined) return { kind: written }
  if (isFree(schema)) return { kind: 'json' }
  if (isInt64(innermost(schema))) return { kind: 'int64' }
  const definition = definitionOf(schema)
  const { shape, element, valueType, options, innerType, in: from, out } = definition
  const { type, format } = definition
  if (shape) return { kind: 'object', members: mapValues(shape, shapeOf) }
  if (element) return { kind: 'list', each: shapeOf(element) }
  if (valueType) return { kind: 'record', each: shapeOf(valueType) }
  if (options) return { kind: 'one of', options: options.map(shapeOf) }
  // A transform has no type of its own; what it comes from has.
  const isTransform = out === undefined || definitionOf(out).type === 'transform'
  const inner = innerType ?? (isTransform ? from : out)
  if (inner !== undefined) return natureOf(inner)
  return { kind: format === 'safeint' ? 'integer' : plainKind(type, definition.values) }
}

/** What the contract says in the words of `guildhall.d.ts`. */
const writtenKinds: { readonly [ts: string]: PlainKind } = {
  GuildhallBytes: 'bytes',
  Uint8Array: 'bytes',
  GuildhallJson: 'json',
  '() => GuildhallDone': 'function',
}

function plainKind(type: string, values: readonly unknown[] = []): PlainKind {
  switch (type) {
    case 'string':
    case 'enum':
      return 'text'
    case 'int':
    case 'number':
    case 'bigint':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'literal':
      return Number.isInteger(values[0]) ? 'integer' : plainKind(typeof values[0])
    case 'never':
      return 'never'
    case 'null':
      return 'null'
    default:
      throw new Error(`no shape is known for a schema of type ${type}`)
  }
}

/** An answer's schema need not take what it describes: its nulls stand in it. */
function hasNull(schema: z.ZodType): boolean {
  const { type, innerType, in: from } = definitionOf(schema)
  if (type === 'nullable' || type === 'null') return true
  const inner = innerType ?? from
  return inner !== undefined && hasNull(inner)
}

function mapValues<V, W>(from: Readonly<Record<string, V>>, to: (value: V) => W) {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]))
}
