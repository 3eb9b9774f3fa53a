import type { z } from 'zod'

/** What a schema is, and the schemas inside it: of Zod's definitions, the parts read here. */
export type SchemaDefinition = {
  readonly type: string
  /** Of a number: `safeint` for an integer. */
  readonly format?: string
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  /** What stands inside optional, nullable and the like. */
  readonly innerType?: z.ZodType
  /** The values of a record. */
  readonly valueType?: z.ZodType
  /** The members of a union. */
  readonly options?: readonly z.ZodType[]
  /** Of a literal. */
  readonly values?: readonly unknown[]
  /** Of an enum. */
  readonly entries?: Readonly<Record<string, unknown>>
  /** The two sides of a pipe. */
  readonly in?: z.ZodType
  readonly out?: z.ZodType
}

export function definitionOf(schema: z.ZodType): SchemaDefinition {
  return schema._zod.def as SchemaDefinition
}

/** The schema of one member of an object or array, or undefined when it declares none. */
export function memberOf(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  const { shape, element } = definitionOf(innermost(schema))
  if (typeof step === 'number') return element
  return shape !== undefined && Object.hasOwn(shape, step) ? shape[step] : undefined
}

/** What stands inside wrappers such as optional, nullable, default and pipe. */
export function innermost(schema: z.ZodType): z.ZodType {
  const { innerType, in: input } = definitionOf(schema)
  const inner = innerType ?? input
  return inner === undefined ? schema : innermost(inner)
}

/** Whether the schema is a free-form object, whose members are the caller's own. */
export function isFree(schema: z.ZodType): boolean {
  const { free } = schema.meta() ?? {}
  return free === true
}

/** Whether the schema is a 64-bit integer as it stands on the wire. */
export function isInt64(schema: z.ZodType): boolean {
  const { int64 } = schema.meta() ?? {}
  return int64 === true
}
