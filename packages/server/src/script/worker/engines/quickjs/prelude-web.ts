/** Part of the prelude: what the sandbox has of the web. */
export const webSource = String.raw`class TextEncoder {
  get encoding() { return 'utf-8' }
  encode(text = '') { return textBytes(host(op.encode, wellFormed(String(text)))) }
}
class TextDecoder {
  #fatal
  #keepsMark
  constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    if (!/^utf-?8$/i.test(label)) throw new RangeError('TextDecoder: only utf-8')
    this.#fatal = fatal
    this.#keepsMark = ignoreBOM
  }
  get encoding() { return 'utf-8' }
  decode(input = new Bytes()) {
    const bytes = ArrayBuffer.isView(input)
      ? new Bytes(input.buffer, input.byteOffset, input.byteLength) : new Bytes(input)
    const flags = (this.#fatal ? 'f' : '-') + (this.#keepsMark ? 'k' : '-')
    const said = host(op.decode, flags + bytesText(bytes))
    if (said === undefined) throw new TypeError('the bytes are no utf-8')
    return apply(slice, said, [1])
  }
}
function shown(value) {
  if (typeof value === 'string') return value
  if (value instanceof NativeError) return String(value.stack ? value + '\n' + value.stack : value)
  try { return stringify(value, (_, v) => typeof v === 'bigint' ? v + 'n' : v) ?? String(value) }
  catch { return String(value) }
}
const print = (level) => (...values) => {
  host(op.print, wellFormed(level + cut(values.map(shown).join(' '), 65536)))
}
const console = {}
for (const [name, level] of [['log', 'i'], ['info', 'i'], ['debug', 'i'], ['trace', 'i'],
  ['warn', 'e'], ['error', 'e']]) console[name] = print(level)

function structuredClone(value, seen = new NativeMap()) {
  if (typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError('structuredClone: a ' + typeof value + ' cannot be cloned')
  }
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  const note = (made) => { seen.set(value, made); return made }
  if (isArray(value)) {
    const made = note([])
    for (const item of value) made.push(structuredClone(item, seen))
    return made
  }
  if (value instanceof Date) return note(new Date(value))
  if (value instanceof RegExp) return note(new RegExp(value.source, value.flags))
  if (value instanceof ArrayBuffer) return note(value.slice(0))
  if (ArrayBuffer.isView(value)) {
    const buffer = structuredClone(value.buffer, seen)
    const length = value.length ?? value.byteLength
    return note(new value.constructor(buffer, value.byteOffset, length))
  }
  if (value instanceof Map) {
    const made = note(new Map())
    for (const [k, v] of value) made.set(structuredClone(k, seen), structuredClone(v, seen))
    return made
  }
  if (value instanceof Set) {
    const made = note(new Set())
    for (const v of value) made.add(structuredClone(v, seen))
    return made
  }
  if (value instanceof Error) {
    return note(Object.assign(new NativeError(value.message), { name: value.name }))
  }
  const made = note({})
  for (const name of keys(value)) made[name] = structuredClone(value[name], seen)
  return made
}

const globals = { TextEncoder, TextDecoder, console, structuredClone: (v) => structuredClone(v),
  queueMicrotask: (work) => { Promise.resolve().then(() => work()) } }
for (const name of keys(globals)) {
  defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true })
}`
