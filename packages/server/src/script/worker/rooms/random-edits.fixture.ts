type Container = { [name: string]: unknown } | unknown[]
type Random = (below: number) => number

/** How many a test makes unless `STATE_EDITS` says it: what is wrong shows in the first thousand. */
export function editsOr(few: number): number {
  return Number(process.env.STATE_EDITS ?? few)
}

/** The same choices for the same seed. */
export function createRandom(seed: number): Random {
  let at = seed
  return (below) => {
    at = (Math.imul(at, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor((at / 0x8000_0000) * below)
  }
}

const names = ['a', 'b', 'c', 'length', 'toString', '__proto__', '7', '']
const scalars = [
  null,
  true,
  false,
  0,
  -0,
  1,
  0.5,
  -7.25,
  1e21,
  'text',
  '',
  'é"',
  9_007_199_254_740_993n,
]

export function randomValue(random: Random, depth = 0): unknown {
  const kind = random(depth > 3 ? 4 : 8)
  if (kind < 4) return scalars[random(scalars.length)]
  const count = random(4)
  if (kind < 6) return Array.from({ length: count }, () => randomValue(random, depth + 1))
  const entries = Array.from({ length: count }, () => {
    return [names[random(names.length)], randomValue(random, depth + 1)]
  })
  const made: object = Object.fromEntries(entries)
  if (kind < 7) return made
  const freeze = [freezeAll, Object.freeze, (value: object) => value][random(3)]
  return freeze?.(made)
}

/** Changes one thing somewhere below the root, as the script of a game would. */
export function editRandomly(root: Container, random: Random): void {
  const at = placeIn(root, random)
  if (Object.isFrozen(at)) return
  if (Array.isArray(at)) editList(at, random, root)
  else editMember(at, random, root)
}

function editMember(at: { [name: string]: unknown }, random: Random, root: Container): void {
  const name = names[random(names.length)] ?? ''
  const action = random(8)
  if (action === 0) delete at[name]
  else if (action === 1) Object.assign(at, { a: random(9), b: [random(9)] })
  else if (action === 2 && typeof at.a === 'number') at.a += 1
  else setMember(at, name, newValue(random, root, at))
}

function editList(at: unknown[], random: Random, root: Container): void {
  const spot = random(at.length + 1)
  const actions = [
    () => at.push(newValue(random, root, at)),
    () => at.pop(),
    () => at.shift(),
    () => at.reverse(),
    () => at.splice(spot, 1, random(9), randomValue(random)),
    () => at.sort((one, other) => sortKey(one) - sortKey(other)),
    () => at.length > 0 && at.fill(random(9), spot, spot + 1),
    () => spot < at.length && at.splice(spot, 1, newValue(random, root, at)),
  ]
  actions[at.length > 8 ? 1 + random(2) : random(actions.length)]?.()
}

/** Mostly something new; else what stands elsewhere, which is moved, or put there twice. */
function newValue(random: Random, root: Container, at: Container): unknown {
  if (random(5) > 0) return randomValue(random)
  const found = placeIn(root, random)
  // Its own part would make a cycle, as may a part of another one.
  return depthOf(found) === 1 && found !== at ? found : randomValue(random)
}

function placeIn(root: Container, random: Random): Container {
  let at = root
  for (let depth = random(5); depth > 0; depth -= 1) {
    const inner = Object.values(at).filter(isContainer)
    at = inner[random(inner.length)] ?? at
  }
  return at
}

function depthOf(value: unknown): number {
  if (!isContainer(value)) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

function sortKey(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function setMember(at: object, name: string, value: unknown): void {
  const member = { value, writable: true, enumerable: true, configurable: true }
  Object.defineProperty(at, name, member)
}

function freezeAll<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) if (isContainer(member)) freezeAll(member)
  return Object.freeze(value)
}

/** To compare by: JSON has one zero, and the order of names says nothing. */
export function plain(value: unknown): unknown {
  if (Object.is(value, -0)) return 0
  if (Array.isArray(value)) return value.map(plain)
  if (!isContainer(value)) return value
  return new Map(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}
