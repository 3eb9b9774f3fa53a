import type { z } from 'zod'

/** The parts of a schema's definition that lead to the schemas inside it. */
type Definition = {
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
  in?: z.ZodType
}

/** The schema of one member of an object or array, or undefined when it declares none. */
export function memberOf(schema: z.ZodType, step: string | number): z.ZodType | undefined {
  const { shape, element } = innermost(schema)._zod.def as Definition
  if (typeof step === 'number') return element
  return shape !== undefined && Object.hasOwn(shape, step) ? shape[step] : undefined
}

/** What stands inside wrappers such as optional, nullable, default and pipe. */
export function innermost(schema: z.ZodType): z.ZodType {
  const { innerType, in: input } = schema._zod.def as Definition
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
