import { stringifyExact } from '@guildhall/contract'
import type { z } from 'zod'
import { rowsAtOnce } from '../batching/rows-at-once.ts'
import {
  type JsonText,
  joinedRows,
  type Part,
  partMark,
  type Write,
  withParts,
} from './json-pieces.ts'
import { definitionOf, isFree, isInt64 } from './schema-walk.ts'

/**
 * Compiles a schema into the function that writes its values as JSON. It is the output filter: only
 * declared members are written, so an undeclared column cannot leave the process. A value that
 * misses a required member throws, which is a bug of the handler and becomes a 500.
 *
 * 64-bit integers are written in full, whether they come as number or as bigint. A long list is
 * written later, so a handler that answered with one leaves it as it is.
 */
export function compileWriter(schema: z.ZodType): (value: unknown) => JsonText {
  const write = writerOf(schema)
  return (value) => {
    const parts: Part[] = []
    return withParts(write(value, parts), parts)
  }
}

function writerOf(schema: z.ZodType): Write {
  const definition = definitionOf(schema)
  const { shape, element, innerType, options, valueType, values } = definition
  if (isFree(schema)) return stringifyExact
  if (shape) return writeObject(shape)
  if (element) return writeArray(element)
  if (options) return writeUnion(options)
  if (valueType) return writeRecord(writerOf(valueType))
  if (definition.type === 'nullable' && innerType) return writeNullable(writerOf(innerType))
  if (innerType) return writerOf(innerType)
  if (values) return writeLiteral(values)
  if (definition.in && definition.out) return writerOf(wireSide(definition.in, definition.out))
  if (isInt64(schema)) return writeNumber
  const write = scalars[definition.type]
  if (write === undefined) throw new Error(`no writer for the schema type ${definition.type}`)
  return write
}

/** A transform says what its reader makes of a value; what is sent stands before it. */
function wireSide(before: z.ZodType, after: z.ZodType): z.ZodType {
  return definitionOf(after).type === 'transform' ? before : after
}

const scalars: Readonly<Record<string, Write>> = {
  string: expectType('string', (value) => JSON.stringify(value)),
  enum: expectType('string', (value) => JSON.stringify(value)),
  boolean: expectType('boolean', String),
  number: writeNumber,
}

function writeNumber(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  throw new TypeError(`expected a number to write, got ${typeof value}`)
}

function expectType(type: 'string' | 'boolean', write: (value: unknown) => string): Write {
  return (value) => {
    if (typeof value !== type)
      throw new TypeError(`expected a ${type} to write, got ${typeof value}`)
    return write(value)
  }
}

function writeObject(shape: Record<string, z.ZodType>): Write {
  const members = Object.entries(shape).map(([name, schema]) => ({
    name,
    prefix: `${JSON.stringify(name)}:`,
    optional: isOptional(schema),
    write: writerOf(schema),
  }))
  return (value, parts) => {
    if (!isRecord(value)) throw new TypeError('expected an object to write')
    let text = ''
    for (const { name, prefix, optional, write } of members) {
      const member = value[name]
      if (member === undefined) {
        if (optional) continue
        throw new TypeError(`the answer misses its member ${name}`)
      }
      text += (text === '' ? '' : ',') + prefix + write(member, parts)
    }
    return `{${text}}`
  }
}

function writeArray(element: z.ZodType): Write {
  const write = writerOf(element)
  return (value, parts) => {
    if (!Array.isArray(value)) throw new TypeError('expected an array to write')
    if (value.length <= rowsAtOnce) return `[${joinedRows(value, (row) => write(row, parts))}]`
    parts.push({ rows: value, write })
    return `[${partMark}]`
  }
}

/** A Map keeps the order of its names, also of those that look like numbers. */
function writeRecord(write: Write): Write {
  const writeMember = (name: string, value: unknown, parts: Part[]) =>
    `${JSON.stringify(name)}:${write(value, parts)}`
  return (value, parts) => {
    if (!isRecord(value)) throw new TypeError('expected an object to write')
    const members = value instanceof Map ? [...value] : Object.entries(value)
    return `{${members.map(([name, member]) => writeMember(name, member, parts)).join(',')}}`
  }
}

/** Anything else in its place would be an undeclared value on its way out. */
function writeLiteral(values: readonly unknown[]): Write {
  return (value) => {
    if (!values.includes(value)) throw new TypeError('the answer differs from its literal')
    return JSON.stringify(value)
  }
}

function writeNullable(write: Write): Write {
  return (value, parts) => (value === null ? 'null' : write(value, parts))
}

/** The first option that has every required member: unions of answers differ in their members. */
function writeUnion(options: readonly z.ZodType[]): Write {
  const choices = options.map((schema) => ({ schema, write: writerOf(schema) }))
  return (value, parts) => {
    const choice = choices.find(({ schema }) => schema.safeParse(value).success)
    if (choice === undefined) throw new TypeError('the answer fits no option of its union')
    return choice.write(value, parts)
  }
}

function isOptional(schema: z.ZodType): boolean {
  return schema._zod.optout === 'optional'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
