import type { z } from 'zod'

/**
 * Makes a value when it is first asked for, and keeps it. The schemas of a table are such values: a
 * node has some three thousand, and needs few of them before it is ready.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A row as it is declared: schemas in the members of these names are made by functions. */
export type Written<R, Made extends string> = R extends unknown
  ? {
      [M in keyof R]: M extends Made
        ? Exclude<R[M], z.ZodType> | (() => Extract<NonNullable<R[M]>, object>)
        : R[M]
    }
  : never

/** The same row as it is read: what a function makes is a member like the others. */
export type Read<R> = { [M in keyof R]: R[M] extends () => infer Value ? Value : R[M] }
export type ReadRows<Rows> = { [Name in keyof Rows]: Read<Rows[Name]> }

/** Makes what a function makes when it is first read. */
export function readRows<Rows extends Readonly<Record<string, object>>>(
  rows: Rows,
): ReadRows<Rows> {
  const read = Object.entries(rows).map(([name, row]) => [name, readRow(row)])
  return Object.fromEntries(read)
}

function readRow(row: object): object {
  const read = {}
  for (const [member, value] of Object.entries(row)) {
    const property = typeof value === 'function' ? { get: once(value) } : { value }
    Object.defineProperty(read, member, { enumerable: true, ...property })
  }
  return read
}
