import { numeric, StatePart } from '@guildhall/contract/state'

/** So many are looked through as fast as they are looked up. */
const fewNames = 16

export type Tree = { [name: string | number]: unknown }

/** Where a part has no member yet. */
export const absent = Symbol('absent')

/**
 * An object or array of a copy. Members are scalars, parts, or objects that are frozen throughout,
 * which are shared with the state.
 */
export class CopyPart extends StatePart {
  /** What it was compared with last, and is known to be plain. */
  source: object
  #places: { names: readonly string[]; byName: ReadonlyMap<string, number> } | undefined

  /** Of members as they are: numbers of an object are kept apart. */
  constructor(names: readonly string[] | undefined, members: unknown[], source: object) {
    super(names, members)
    this.source = source
    this.take(names, members)
  }

  /** Has these members from now on. */
  take(names: readonly string[] | undefined, members: unknown[]): void {
    const hasNumbers = names !== undefined && members.some(isNumber)
    const numbers = hasNumbers ? numbersOf(members) : undefined
    for (let n = 0; numbers !== undefined && n < members.length; n += 1) {
      if (typeof members[n] === 'number') members[n] = numeric
    }
    // Nothing is called from here on: an interrupt leaves either all of it or nothing.
    this.names = names
    this.values = members
    this.numbers = numbers
  }

  put(place: number, member: unknown): void {
    if (this.names === undefined) {
      this.values[place] = member
      return
    }
    if (isNumber(member)) {
      this.numbers ??= numbersOf(this.values)
      this.numbers[place] = member
      this.values[place] = numeric
      return
    }
    this.values[place] = member
    if (this.numbers !== undefined) this.numbers[place] = Number.NaN
  }

  /** Of a name of an object; undefined without it. */
  placeOf(name: string): number | undefined {
    const { names = [] } = this
    if (names.length <= fewNames) {
      const place = names.indexOf(name)
      return place < 0 ? undefined : place
    }
    if (this.#places?.names !== names) {
      this.#places = { names, byName: new Map(names.map((each, n) => [each, n])) }
    }
    return this.#places.byName.get(name)
  }
}

/** Of doubles from the start: the engine keeps those without an object for each. */
function numbersOf(members: readonly unknown[]): number[] {
  const numbers = [0.5]
  for (let n = 0; n < members.length; n += 1) {
    const member = members[n]
    numbers[n] = isNumber(member) ? member : Number.NaN
  }
  return numbers
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

/** A value like the copy, of objects of its own. */
export function thaw(value: unknown): unknown {
  if (!(value instanceof CopyPart)) return value
  const { names, values } = value
  if (names === undefined) return values.map(thaw)
  const tree: Tree = {}
  for (let n = 0; n < names.length; n += 1) setMember(tree, names[n] ?? '', thaw(value.at(n)))
  return tree
}

/** Also a member that is called `__proto__`. */
function setMember(tree: Tree, name: string, value: unknown): void {
  if (name !== '__proto__') tree[name] = value
  else Object.defineProperty(tree, name, { value, ...ordinary })
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const
