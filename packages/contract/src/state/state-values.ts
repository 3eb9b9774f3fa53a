import { StatePart } from './state-part.ts'

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
