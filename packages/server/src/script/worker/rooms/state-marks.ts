/**
 * Where a value may have changed since it was compared: anywhere, or in the members of these names
 * (of an array: indexes as text), each with where in it.
 */
export type StateMarks = 'all' | ReadonlyMap<string, StateMarks>
