import { type Comparison, queryTokens, type Token } from './query-tokens.ts'

/** What a query is evaluated on, e.g. a Map. A field that is not there is undefined. */
export type Values = { get(field: string): unknown }

/** A query that was read: data instead of a function, because many tickets wait with theirs. */
export type Query =
  | { type: 'number'; field: string; literal: number; holds: (order: number) => boolean }
  | { type: 'text'; field: string; literal: string; isEqual: boolean }
  | { type: 'and' | 'or'; parts: readonly Query[] }

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
  if (tokens.length === 0) return everything
  const comparisons = tokens.filter(({ type }) => type === 'comparison').length
  if (comparisons > comparisonsMax) return undefined
  const parser = new Parser(tokens)
  const part = parser.or(0)
  return parser.atEnd ? part : undefined
}

const everything: Query = { type: 'and', parts: [] }

/** Whether the values fit the query. */
export function fits(part: Query, values: Values): boolean {
  switch (part.type) {
    case 'number': {
      const value = values.get(part.field)
      // Integers of 64 bits are compared as the numbers that literals are.
      if (typeof value === 'bigint') return part.holds(Number(value) - part.literal)
      return typeof value === 'number' && part.holds(value - part.literal)
    }
    case 'text': {
      const value = values.get(part.field)
      return typeof value === 'string' && (value === part.literal) === part.isEqual
    }
    case 'and': {
      for (const each of part.parts) if (!fits(each, values)) return false
      return true
    }
    case 'or': {
      for (const each of part.parts) if (fits(each, values)) return true
      return false
    }
  }
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
    return this.#joined('or', () => this.#and(depth))
  }

  #and(depth: number): Query | undefined {
    return this.#joined('and', () => this.#term(depth))
  }

  #joined(type: 'or' | 'and', readPart: () => Query | undefined): Query | undefined {
    const parts: Query[] = []
    do {
      const part = readPart()
      if (part === undefined) return undefined
      parts.push(part)
    } while (this.#take(type) !== undefined)
    return parts.length === 1 ? parts[0] : { type, parts: parts.slice() }
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

function compare(
  name: string,
  comparison: Comparison,
  literal: string | number,
): Query | undefined {
  const field = shared(name)
  if (typeof literal === 'number') {
    return { type: 'number', field, literal, holds: orders[comparison] }
  }
  if (comparison !== '==' && comparison !== '!=') return undefined
  return { type: 'text', field, literal: shared(literal), isEqual: comparison === '==' }
}

/**
 * The text as the engine keeps names of members: once for all tickets that use it, found by its
 * address, and without the query that it was cut out of.
 */
function shared(text: string): string {
  return Object.keys({ [text]: 0 })[0] ?? text
}

/** By the difference of value and literal. */
const orders: Record<Comparison, (order: number) => boolean> = {
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}
