import { roundTo } from './state-numbers.ts'
import { StatePart } from './state-part.ts'
import type { Scalar } from './state-shadow.ts'

/** An object or array. */
export type Container = StatePart | { readonly [name: string]: unknown } | readonly unknown[]

/** JSON has one zero. */
export function isEqual(a: unknown, b: unknown): boolean {
  return a === b
}

export function checkPlain(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return
  throw new TypeError('an object of a class is no JSON')
}

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

/** Whether it is an array. */
export function isList(value: Container): boolean {
  return value instanceof StatePart ? value.names === undefined : isPlainList(value)
}

export function indexName(index: number): string {
  return indexNames[index] ?? String(index)
}

export const isPlainList: (value: unknown) => value is readonly unknown[] = Array.isArray
const indexNames: readonly string[] = Array.from({ length: 1024 }, (_, n) => String(n))

type Names = readonly string[]

export function isSame(before: Names | undefined, now: Names): boolean {
  if (before?.length !== now.length) return false
  for (let n = 0; n < now.length; n += 1) if (before[n] !== now[n]) return false
  return true
}

/** What stands under names that were listed: the engine lists those that are numbers slowly. */
export function membersOf(value: { readonly [name: string]: unknown }, names: Names) {
  const members: unknown[] = []
  for (let n = 0; n < names.length; n += 1) members[n] = value[names[n] ?? '']
  return members
}

/** As it is sent. Throws for what is no JSON, by its `name`. */
export function scalarOf(next: unknown, decimals: number | undefined, name: string): Scalar {
  switch (typeof next) {
    case 'number':
      if (!Number.isFinite(next)) throw new TypeError(`${name} is ${next}, which is no JSON`)
      return decimals === undefined || Number.isInteger(next) ? next : roundTo(next, decimals)
    case 'string':
      return next
    case 'boolean':
    case 'bigint':
      return next
    default:
      if (next === null) return next
      throw new TypeError(`${name} is ${typeof next}, which is no JSON`)
  }
}
