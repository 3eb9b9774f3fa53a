import type { Tree } from './copy-part.ts'

/** What an object of a tracked state knows of the whole. */
export type TrackedTree = {
  adopt(parent: Tracked, name: string, value: unknown): unknown
  faceOf(parent: Tracked, name: string, member: object): object
  targetOf(value: object): object
  addFace(face: object, target: object): void
  addMarked(node: Tracked): void
  addUntracked(node: Tracked): void
  isAttached(node: Tracked): boolean
}

type Link = { readonly parent: Tracked; readonly name: string }

/** So many places of one object are kept before those that are none any more are dropped. */
const linksMax = 4

/** An object or array of a tracked state: where it stands, what was written, and its proxy. */
export class Tracked implements ProxyHandler<Tree> {
  readonly target: Tree
  parent: Tracked | undefined
  name = ''
  /** Further places, for an object that stands at several. */
  #others: Link[] = []
  /** Names that were written to (true), or below which something was; none is undefined. */
  marks: Map<string, boolean> | undefined
  #face: object | undefined
  /** A proxy of it must give its members as they are. */
  #isRigid: boolean
  readonly #tree: TrackedTree

  constructor(tree: TrackedTree, target: object) {
    this.#tree = tree
    this.target = target as Tree
    this.#isRigid = Object.isFrozen(target)
  }

  /** What is frozen throughout needs no proxy. */
  get face(): object {
    if (this.#face === undefined) {
      this.#face = isLasting(this.target) ? this.target : new Proxy(this.target, this)
      if (this.#face !== this.target) this.#tree.addFace(this.#face, this.target)
    }
    return this.#face
  }

  /** It stands there, too. */
  link(parent: Tracked | undefined, name: string): void {
    if (parent === undefined || (this.parent === parent && this.name === name)) return
    const others = this.#others
    if (this.parent === undefined || !this.#isAt(this.parent, this.name)) {
      this.parent = parent
      this.name = name
      if (others.length > 0)
        this.#others = others.filter((link) => this.#isAt(link.parent, link.name))
      return
    }
    if (others.some((link) => link.parent === parent && link.name === name)) return
    if (others.length >= linksMax) this.#dropLinks()
    this.#others.push({ parent, name })
  }

  /** Where it stands; also where it stood, for some time. */
  links(): readonly Link[] {
    if (this.parent === undefined) return this.#others
    return [{ parent: this.parent, name: this.name }, ...this.#others].filter((link) =>
      this.#isAt(link.parent, link.name),
    )
  }

  mark(name: string, isWritten: boolean): void {
    if (this.marks === undefined) {
      this.marks = new Map()
      this.#tree.addMarked(this)
      this.parent?.mark(this.name, false)
      for (const link of this.#others) link.parent.mark(link.name, false)
    }
    if (isWritten || !this.marks.has(name)) this.marks.set(name, isWritten)
  }

  get(target: Tree, name: string | symbol): unknown {
    const value = target[name as string]
    if (typeof value !== 'object' || value === null || typeof name === 'symbol') return value
    if (name === '__proto__' && !Object.hasOwn(target, name)) return value
    if (!this.#isRigid) return this.#tree.faceOf(this, name, value)
    this.#tree.addUntracked(this)
    return value
  }

  set(target: Tree, name: string | symbol, given: unknown, receiver: unknown): boolean {
    if (receiver !== this.#face || typeof name === 'symbol') {
      return Reflect.set(target, name, given, receiver)
    }
    const isScalar = typeof given !== 'object' || given === null
    if (isScalar && given === target[name] && Object.hasOwn(target, name)) return true
    this.mark(name, true)
    return put(target, name, isScalar ? given : this.#tree.adopt(this, name, given))
  }

  deleteProperty(target: Tree, name: string | symbol): boolean {
    if (typeof name === 'string') this.mark(name, true)
    return Reflect.deleteProperty(target, name)
  }

  defineProperty(target: Tree, name: string | symbol, given: PropertyDescriptor): boolean {
    if (typeof name === 'symbol') return Reflect.defineProperty(target, name, given)
    this.mark(name, true)
    if (given.configurable === false || given.writable === false || given.get !== undefined) {
      this.#isRigid = true
      this.#tree.addUntracked(this)
    }
    if (!('value' in given)) return Reflect.defineProperty(target, name, given)
    const value = this.#tree.adopt(this, name, given.value)
    return Reflect.defineProperty(target, name, { ...given, value })
  }

  #isAt({ target }: Tracked, name: string): boolean {
    const found = target[name]
    return typeof found === 'object' && found !== null && this.#tree.targetOf(found) === this.target
  }

  #dropLinks(): void {
    const links = this.links().filter(({ parent }) => this.#tree.isAttached(parent))
    const [first, ...others] = links
    this.parent = first?.parent
    this.name = first?.name ?? ''
    this.#others = others
  }
}

/** `Reflect.set`, which the engine does far slower. */
function put(target: Tree, name: string, value: unknown): boolean {
  try {
    target[name] = value
    return true
  } catch (error) {
    // A setter has thrown it; else the member cannot be written, or not with this value.
    if (setterOf(target, name) !== undefined) throw error
    return Reflect.set(target, name, value)
  }
}

function setterOf(target: object | null, name: string): unknown {
  for (let at = target; at !== null; at = Object.getPrototypeOf(at)) {
    const member = Object.getOwnPropertyDescriptor(at, name)
    if (member !== undefined) return member.set
  }
  return undefined
}

/** Nothing of it can change. */
function isLasting(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(isLasting)
}
