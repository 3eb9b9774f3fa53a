export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/** `at` counts the characters before it. */
export type Token =
  | { type: 'open' | 'close' | 'and' | 'or'; at: number }
  | { type: 'field'; name: string; at: number }
  | { type: 'comparison'; comparison: Comparison; at: number }
  | { type: 'literal'; value: string | number; at: number }

/** A token and where it ends. */
type Found = { token: Token; end: number }

const textBytesMax = 256
const fieldLengthMax = 64

/**
 * Cuts a query into tokens; a number is where something in it is none. Signs and texts end by
 * themselves; a word or a number ends at a blank or a sign. Everybody may send queries all the
 * time, so it looks at each character once.
 */
export function queryTokens(query: string): Token[] | number {
  const tokens: Token[] = []
  for (let at = firstBehind(query, 0, isBlank); at < query.length; ) {
    const found = findToken(query, at)
    if (found === undefined) return at
    tokens.push(found.token)
    at = firstBehind(query, found.end, isBlank)
  }
  return tokens
}

function findToken(query: string, at: number): Found | undefined {
  const first = query[at] ?? ''
  if (first === '"' || first === "'") return findText(query, at, first)
  if (isWordStart(query.charCodeAt(at))) return findWord(query, at)
  return findSign(query, at, first) ?? findNumber(query, at)
}

function findSign(query: string, at: number, first: string): Found | undefined {
  if (first === '(') return { token: { type: 'open', at }, end: at + 1 }
  if (first === ')') return { token: { type: 'close', at }, end: at + 1 }
  const both = first + (query[at + 1] ?? '')
  const comparison = isComparison(both) ? both : first
  if (!isComparison(comparison)) return undefined
  return { token: { type: 'comparison', comparison, at }, end: at + comparison.length }
}

function isComparison(text: string): text is Comparison {
  return comparisons.has(text)
}

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>='])

function findText(query: string, at: number, quote: string): Found | undefined {
  const end = query.indexOf(quote, at + 1)
  if (end === -1) return undefined
  const value = query.slice(at + 1, end)
  if (Buffer.byteLength(value) > textBytesMax) return undefined
  return { token: { type: 'literal', value, at }, end: end + 1 }
}

function findWord(query: string, at: number): Found | undefined {
  const end = firstBehind(query, at, isWordPart)
  const name = query.slice(at, end)
  const type = jointOf(name)
  if (type !== undefined) return { token: { type, at }, end }
  return name.length <= fieldLengthMax ? { token: { type: 'field', name, at }, end } : undefined
}

/** A number of JSON with nothing of a word behind it. */
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![A-Za-z0-9_.])/y

function findNumber(query: string, at: number): Found | undefined {
  number.lastIndex = at
  const text = number.exec(query)?.[0]
  const value = Number(text)
  if (text === undefined || !Number.isFinite(value)) return undefined
  return { token: { type: 'literal', value, at }, end: at + text.length }
}

function jointOf(word: string): 'and' | 'or' | undefined {
  if (word.length > 3) return undefined
  const lower = word.toLowerCase()
  return lower === 'and' || lower === 'or' ? lower : undefined
}

function firstBehind(query: string, from: number, belongs: (code: number) => boolean): number {
  let at = from
  while (at < query.length && belongs(query.charCodeAt(at))) at += 1
  return at
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** A letter or an underscore. */
function isWordStart(code: number): boolean {
  const lower = code | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x5f
}

/** What may follow: digits and dots too. */
function isWordPart(code: number): boolean {
  return isWordStart(code) || (code >= 0x30 && code <= 0x39) || code === 0x2e
}

/** Whether a property may have this name. */
export function isField(name: string): boolean {
  const isWord = isWordStart(name.charCodeAt(0)) && firstBehind(name, 0, isWordPart) === name.length
  return isWord && name.length <= fieldLengthMax && jointOf(name) === undefined
}
