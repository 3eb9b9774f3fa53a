export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/** `at` counts the characters before it. */
export type Token = TokenKind & { at: number }
type TokenKind =
  | { type: 'open' | 'close' | 'and' | 'or' }
  | { type: 'field'; name: string }
  | { type: 'comparison'; comparison: Comparison }
  | { type: 'literal'; value: string | number }

const textBytesMax = 256

/** Signs and texts end by themselves; a word or a number ends at a blank or a sign. */
const blanks = /[ \t\r\n]*/
const sign = /(?<sign>\(|\)|==|!=|<=|>=|<|>)/
const word = /(?<word>[A-Za-z_][A-Za-z0-9_.]*)/
const number = /(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![A-Za-z0-9_.])/
const text = /"(?<double>[^"]*)"|'(?<single>[^']*)'/

const anyToken = [sign, word, number, text].map(({ source }) => source).join('|')
const tokenPattern = new RegExp(`${blanks.source}(?:${anyToken})`, 'y')

const leadingBlanks = new RegExp(blanks.source, 'y')
const trailingBlanks = /[ \t\r\n]*$/y

/** Cuts a query into tokens; a number is where something in it is none. */
export function queryTokens(query: string): Token[] | number {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    trailingBlanks.lastIndex = at
    if (trailingBlanks.test(query)) return tokens
    tokenPattern.lastIndex = at
    const found = tokenPattern.exec(query)
    const token = found?.groups && tokenFrom(found.groups)
    const begin = at + blanksAt(query, at)
    if (token === undefined) return begin
    tokens.push({ ...token, at: begin })
    at = tokenPattern.lastIndex
  }
}

function blanksAt(query: string, at: number): number {
  leadingBlanks.lastIndex = at
  return leadingBlanks.exec(query)?.[0].length ?? 0
}

function tokenFrom(groups: { [name: string]: string | undefined }): TokenKind | undefined {
  if (groups.sign !== undefined) return signToken(groups.sign)
  if (groups.word !== undefined) return wordToken(groups.word)
  if (groups.number !== undefined) return numberToken(Number(groups.number))
  return textToken(groups.double ?? groups.single ?? '')
}

function signToken(found: string): TokenKind {
  if (found === '(') return { type: 'open' }
  if (found === ')') return { type: 'close' }
  return { type: 'comparison', comparison: found as Comparison }
}

function wordToken(found: string): TokenKind | undefined {
  const upper = found.toUpperCase()
  if (upper === 'AND') return { type: 'and' }
  if (upper === 'OR') return { type: 'or' }
  return isField(found) ? { type: 'field', name: found } : undefined
}

function numberToken(value: number): TokenKind | undefined {
  return Number.isFinite(value) ? { type: 'literal', value } : undefined
}

function textToken(value: string): TokenKind | undefined {
  return Buffer.byteLength(value) <= textBytesMax ? { type: 'literal', value } : undefined
}

const field = /^(?!(?:and|or)$)[a-z_][a-z0-9_.]{0,63}$/i

/** Whether a property may have this name. */
export function isField(name: string): boolean {
  return field.test(name)
}
