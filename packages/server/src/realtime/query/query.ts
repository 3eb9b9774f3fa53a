import { type Comparison, queryTokens, type Token } from './query-tokens.ts'

/** Whether what is read fits the query. A field that is not there is undefined. */
export type Query = (read: (field: string) => unknown) => boolean

const queryBytesMax = 1024
const comparisonsMax = 32
const depthMax = 16

/**
 * Reads a query of players:
 *
 *     query = [ or ]      or = and { OR and }      and = term { AND term }
 *     term  = field comparison literal | "(" or ")"
 *
 * Literals are JSON numbers and texts in either quotes, without escapes; texts are compared with
 * `==` and `!=` only. A value that is missing or of another type makes a comparison false, also
 * `!=`. The empty query fits everything.
 *
 * @returns undefined for anything else than this grammar, and above 1,024 bytes, 32 comparisons or
 * 16 levels of parentheses
 * @example parseQuery('region == "eu" AND rating >= 1200')
 */
export function parseQuery(text: string): Query | undefined {
  if (Buffer.byteLength(text) > queryBytesMax) return undefined
  const tokens = queryTokens(text)
  if (tokens === undefined) return undefined
  if (tokens.length === 0) return () => true
  const comparisons = tokens.filter(({ type }) => type === 'comparison').length
  if (comparisons > comparisonsMax) return undefined
  const parser = new Parser(tokens)
  const query = parser.or(0)
  return parser.atEnd ? query : undefined
}

/** Each function reads one rule of the grammar, and returns undefined where it does not hold. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  get atEnd(): boolean {
    return this.#at === this.#tokens.length
  }

  or(depth: number): Query | undefined {
    const parts = this.#joined('or', () => this.#and(depth))
    return parts && (parts.length === 1 ? parts[0] : anyOf(parts))
  }

  #and(depth: number): Query | undefined {
    const parts = this.#joined('and', () => this.#term(depth))
    return parts && (parts.length === 1 ? parts[0] : allOf(parts))
  }

  #joined(by: 'or' | 'and', readPart: () => Query | undefined): Query[] | undefined {
    const parts: Query[] = []
    do {
      const part = readPart()
      if (part === undefined) return undefined
      parts.push(part)
    } while (this.#take(by) !== undefined)
    return parts
  }

  #term(depth: number): Query | undefined {
    if (this.#take('open') !== undefined) {
      const inner = depth < depthMax ? this.or(depth + 1) : undefined
      return this.#take('close') && inner
    }
    const field = this.#take('field')
    const comparison = field && this.#take('comparison')
    const literal = comparison && this.#take('literal')
    if (field === undefined || comparison === undefined || literal === undefined) return undefined
    return compare(field.name, comparison.comparison, literal.value)
  }

  #take<Type extends Token['type']>(type: Type): (Token & { type: Type }) | undefined {
    const token = this.#tokens[this.#at]
    if (token === undefined || !isOfType(token, type)) return undefined
    this.#at += 1
    return token
  }
}

function isOfType<Type extends Token['type']>(
  token: Token,
  type: Type,
): token is Token & { type: Type } {
  return token.type === type
}

function anyOf(parts: readonly Query[]): Query {
  return (read) => parts.some((part) => part(read))
}

function allOf(parts: readonly Query[]): Query {
  return (read) => parts.every((part) => part(read))
}

function compare(
  field: string,
  comparison: Comparison,
  literal: string | number,
): Query | undefined {
  if (typeof literal === 'number') {
    const holds = numberComparisons[comparison]
    return (read) => {
      const value = read(field)
      // Integers of 64 bits are compared as the numbers that literals are.
      return isNumber(value) && holds(Number(value), literal)
    }
  }
  if (comparison === '==') return (read) => read(field) === literal
  if (comparison !== '!=') return undefined
  return (read) => {
    const value = read(field)
    return typeof value === 'string' && value !== literal
  }
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

const numberComparisons: Record<Comparison, (value: number, literal: number) => boolean> = {
  '==': (value, literal) => value === literal,
  '!=': (value, literal) => value !== literal,
  '<': (value, literal) => value < literal,
  '<=': (value, literal) => value <= literal,
  '>': (value, literal) => value > literal,
  '>=': (value, literal) => value >= literal,
}
