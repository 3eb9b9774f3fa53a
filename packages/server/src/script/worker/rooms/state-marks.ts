/**
 * Where a value may have changed since it was compared: anywhere, or in the members of these names
 * (of an array: indexes as text), each with where in it.
 */
export type StateMarks = 'all' | ReadonlyMap<string, StateMarks>

/** Whether a value has the member, among those that JSON would show. */
export function isMember(value: object, name: string): boolean {
  return isEnumerable.call(value, name)
}

const isEnumerable = Object.prototype.propertyIsEnumerable
