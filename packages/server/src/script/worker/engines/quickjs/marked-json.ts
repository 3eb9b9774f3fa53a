/**
 * Values of the two JavaScripts as texts: JSON, and what JSON cannot say as an object with one
 * member of this name. A member of the script's own that begins like it gets one more.
 */
const mark = '\0'

/** How a mark looks in JSON; a text without it has nothing to be looked for. */
const escapedMark = '\\u0000'

export function writeMarked(value: unknown): string {
  return JSON.stringify(marked(value))
}

/** The same for what a handler is called with: texts of the node, which seldom need a mark. */
export function writeArguments(args: readonly unknown[]): string {
  if (args.some(needsMark)) return writeMarked(args)
  try {
    const text = JSON.stringify(args)
    return text.includes(escapedMark) ? writeMarked(args) : text
  } catch {
    // A bigint.
    return writeMarked(args)
  }
}

function needsMark(value: unknown): boolean {
  return value === undefined || value instanceof Uint8Array
}

function marked(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return { [mark]: `i${value}` }
    case 'undefined':
      return { [mark]: 'u' }
    case 'object':
      return value === null ? null : markedObject(value)
    default:
      return value
  }
}

function markedObject(value: object): unknown {
  if (value instanceof Uint8Array) {
    return {
      [mark]: `b${Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')}`,
    }
  }
  if (Array.isArray(value)) return value.map(marked)
  const members: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined)
      members.push([name.startsWith(mark) ? mark + name : name, marked(member)])
  }
  return Object.fromEntries(members)
}

/** @param fn what a function of the guest is outside, by its number */
export function readMarked(text: string, fn: (id: number) => unknown): unknown {
  const value: unknown = JSON.parse(text)
  return text.includes(escapedMark) ? unmarked(value, fn) : value
}

function unmarked(value: unknown, fn: (id: number) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => unmarked(item, fn))
  const special: unknown = Reflect.get(value, mark)
  if (typeof special === 'string') return meaning(special[0] ?? '', special.slice(1), fn)
  const members = Object.entries(value).map(([name, member]): [string, unknown] => {
    return [name.startsWith(mark) ? name.slice(1) : name, unmarked(member, fn)]
  })
  return Object.fromEntries(members)
}

function meaning(kind: string, text: string, fn: (id: number) => unknown): unknown {
  switch (kind) {
    case 'i':
      return BigInt(text)
    case 'n':
      return Number(text)
    case 'b':
      return new Uint8Array(Buffer.from(text, 'latin1'))
    case 'f':
      return fn(Number(text))
    case 'x':
      return unfit(text)
    default:
      return undefined
  }
}

/** Of this kind, e.g. `Promise`: what takes it refuses it, and says what it is. */
function unfit(kind: string): unknown {
  if (kind === 'symbol') return Symbol(kind)
  if (kind === 'function') return () => {}
  return Object.defineProperty(new Map(), Symbol.toStringTag, { value: kind })
}
