import { StatePart } from '@guildhall/contract/state'

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

  constructor(names: readonly string[] | undefined, values: unknown[], source: object) {
    super(names, values)
    this.source = source
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

/** A value like the copy, of objects of its own. */
export function thaw(value: unknown): unknown {
  if (!(value instanceof CopyPart)) return value
  const { names, values } = value
  if (names === undefined) return values.map(thaw)
  const tree: Tree = {}
  for (let n = 0; n < names.length; n += 1) setMember(tree, names[n] ?? '', thaw(values[n]))
  return tree
}

/** Also a member that is called `__proto__`. */
function setMember(tree: Tree, name: string, value: unknown): void {
  if (name !== '__proto__') tree[name] = value
  else Object.defineProperty(tree, name, { value, ...ordinary })
}

const ordinary = { writable: true, enumerable: true, configurable: true } as const
