export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

export type Token =
  | { type: 'open' | 'close' | 'and' | 'or' }
  | { type: 'field'; name: string }
  | { type: 'comparison'; comparison: Comparison }
  | { type: 'literal'; value: string | number }

const textBytesMax = 256

/** Signs and texts end by themselves; a word or a number ends at a blank or a sign. */
const tokenPattern =
  /[ \t\r\n]*(?:(?<sign>\(|\)|==|!=|<=|>=|<|>)|(?<word>[A-Za-z_][A-Za-z0-9_.]*)|(?<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![A-Za-z0-9_.])|"(?<double>[^"]*)"|'(?<single>[^']*)')/y

const trailingBlanks = /[ \t\r\n]*$/y

/** Cuts a query into tokens; undefined when something in it is none. */
export function queryTokens(text: string): Token[] | undefined {
  const tokens: Token[] = []
  let at = 0
  for (;;) {
    trailingBlanks.lastIndex = at
    if (trailingBlanks.test(text)) return tokens
    tokenPattern.lastIndex = at
    const found = tokenPattern.exec(text)
    const token = found?.groups && tokenFrom(found.groups)
    if (token === undefined) return undefined
    tokens.push(token)
    at = tokenPattern.lastIndex
  }
}

function tokenFrom(groups: { [name: string]: string | undefined }): Token | undefined {
  const { sign, word, number, double, single } = groups
  if (sign !== undefined) return signToken(sign)
  if (word !== undefined) return wordToken(word)
  if (number !== undefined) return numberToken(Number(number))
  return textToken(double ?? single ?? '')
}

function signToken(sign: string): Token {
  if (sign === '(') return { type: 'open' }
  if (sign === ')') return { type: 'close' }
  return { type: 'comparison', comparison: sign as Comparison }
}

function wordToken(word: string): Token | undefined {
  const upper = word.toUpperCase()
  if (upper === 'AND') return { type: 'and' }
  if (upper === 'OR') return { type: 'or' }
  return isField(word) ? { type: 'field', name: word } : undefined
}

function numberToken(value: number): Token | undefined {
  return Number.isFinite(value) ? { type: 'literal', value } : undefined
}

function textToken(value: string): Token | undefined {
  return Buffer.byteLength(value) <= textBytesMax ? { type: 'literal', value } : undefined
}

const field = /^(?!(?:and|or)$)[a-z_][a-z0-9_.]{0,63}$/i

/** Whether a property may have this name. */
export function isField(name: string): boolean {
  return field.test(name)
}
