import type { StateMarks } from './state-marks.ts'
import { Tracked, type TrackedTree } from './tracked.ts'

/** Deeper is no state. */
const adoptDepthMax = 80

/**
 * A state that notes where it is written to. Its handlers get it through proxies; the objects below
 * them are what they have put there. What is written past the proxies is not noted.
 */
export class StateTracker implements TrackedTree {
  /** The state without proxies. */
  value: unknown = null
  readonly #nodes = new WeakMap<object, Tracked>()
  /** What a proxy stands for. */
  readonly #targets = new WeakMap<object, object>()
  readonly #marked: Tracked[] = []
  readonly #untracked = new Set<Tracked>()
  #isReplaced = true

  /** What handlers get. */
  get state(): unknown {
    const node = isObject(this.value) ? this.#nodes.get(this.value) : undefined
    return node === undefined ? this.value : node.face
  }

  set state(state: unknown) {
    this.value = this.adopt(undefined, '', state)
    this.#isReplaced = true
  }

  /** Where it was written to since this was asked last; undefined: nowhere. */
  takeMarks(): StateMarks | undefined {
    for (const node of this.#untracked) {
      this.#markWhole(node.target)
      if (!this.isAttached(node)) this.#untracked.delete(node)
    }
    const root = isObject(this.value) ? this.#nodes.get(this.value) : undefined
    const marks = this.#isReplaced ? 'all' : root && this.#marksOf(root, 0)
    for (const node of this.#marked) node.marks = undefined
    this.#marked.length = 0
    this.#isReplaced = false
    return marks
  }

  /** The value as it stands in the tree; all that is below it knows its place from now on. */
  adopt(parent: Tracked | undefined, name: string, given: unknown, depth = 0): unknown {
    if (!isObject(given)) return given
    const value = this.targetOf(given)
    const known = this.#nodes.get(value)
    if (known !== undefined) {
      known.link(parent, name)
      return value
    }
    if (!isPlain(value) || depth > adoptDepthMax) return value
    const node = new Tracked(this, value)
    this.#nodes.set(value, node)
    node.link(parent, name)
    this.#adoptMembers(node, depth)
    return value
  }

  /** What handlers get for a member that is an object. */
  faceOf(parent: Tracked, name: string, member: object): object {
    const node = this.#nodes.get(member)
    if (node !== undefined) {
      if (node.parent !== parent || node.name !== name) node.link(parent, name)
      return node.face
    }
    const value = this.adopt(parent, name, member) as object
    return this.#nodes.get(value)?.face ?? value
  }

  targetOf(value: object): object {
    return this.#targets.get(value) ?? value
  }

  addFace(face: object, target: object): void {
    this.#targets.set(face, target)
  }

  addMarked(node: Tracked): void {
    this.#marked.push(node)
  }

  /** From now on it may be anything at the end of every slice. */
  addUntracked(node: Tracked): void {
    this.#untracked.add(node)
  }

  /** Whether it is a part of the state, as far as that can be said at once. */
  isAttached(node: Tracked, budget = { left: 100 }): boolean {
    if (node.target === this.value) return true
    budget.left -= 1
    if (budget.left < 0) return true
    return node.links().some(({ parent }) => this.isAttached(parent, budget))
  }

  /** Also what is below it, wherever else it stands; members may have come unseen. */
  #markWhole(value: object, seen = new Set<object>()): void {
    const node = this.#nodes.get(value)
    if (node === undefined || seen.has(value)) return
    seen.add(value)
    if (value === this.value) this.#isReplaced = true
    for (const { parent, name } of node.links()) parent.mark(name, true)
    this.#adoptMembers(node, 0)
    for (const member of Object.values(value)) {
      if (isObject(member)) this.#markWhole(this.targetOf(member), seen)
    }
  }

  #adoptMembers(node: Tracked, depth: number): void {
    const { target } = node
    for (const name of Object.keys(target)) {
      const member = target[name]
      if (!isObject(member)) continue
      const adopted = this.adopt(node, name, member, depth + 1)
      if (adopted !== member) Reflect.set(target, name, adopted)
    }
  }

  #marksOf(node: Tracked, depth: number): StateMarks | undefined {
    if (node.marks === undefined) return undefined
    if (depth > adoptDepthMax) return 'all'
    const marks = new Map<string, StateMarks>()
    for (const [name, isWritten] of node.marks) {
      const member = isWritten ? undefined : node.target[name]
      const inner = isObject(member) ? this.#nodes.get(this.targetOf(member)) : undefined
      const below = isWritten ? 'all' : inner && this.#marksOf(inner, depth + 1)
      if (below !== undefined) marks.set(name, below)
    }
    return marks
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Everything else is refused when the slice has ended. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
