import { type Comparison, queryTokens, type Token } from './query-tokens.ts'

/** What a query is evaluated on, e.g. a Map. A field that is not there is undefined. */
export type Values = { get(field: string): unknown }

/** Why a text is no query, and where. */
export type QueryProblem = { readonly problem: string }

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
 * @returns a problem for anything else than this grammar, and above 1,024 bytes, 32 comparisons or
 * 16 levels of parentheses
 * @example parseQuery('region == "eu" AND rating >= 1200')
 */
export function parseQuery(text: string): Query | QueryProblem {
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof Misread)) throw error
    const { message: problem, at } = error
    return { problem: at === undefined ? problem : `${problem} at character ${at + 1}` }
  }
}

/** What ends the reading of a text that is no query. */
class Misread extends Error {
  /** How many characters stand before it. */
  readonly at: number | undefined

  constructor(problem: string, at?: number) {
    super(problem)
    this.at = at
  }
}

function read(text: string): Query {
  if (Buffer.byteLength(text) > queryBytesMax) {
    throw new Misread(`it is longer than ${queryBytesMax} bytes`)
  }
  const tokens = queryTokens(text)
  if (typeof tokens === 'number')
    throw new Misread('there is no sign, name, number or text', tokens)
  if (tokens.length === 0) return everything
  const comparisons = tokens.filter(({ type }) => type === 'comparison').length
  if (comparisons > comparisonsMax) {
    throw new Misread(`there are more than ${comparisonsMax} comparisons`)
  }
  const parser = new Parser(tokens, text.length)
  const part = parser.or(0)
  parser.expectEnd()
  return part
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

/** Each function reads one rule of the grammar, and throws where it does not hold. */
class Parser {
  readonly #tokens: readonly Token[]
  readonly #length: number
  #at = 0

  constructor(tokens: readonly Token[], length: number) {
    this.#tokens = tokens
    this.#length = length
  }

  expectEnd(): void {
    if (this.#at < this.#tokens.length) throw this.#misread('AND or OR is expected')
  }

  or(depth: number): Query {
    return this.#joined('or', () => this.#and(depth))
  }

  #and(depth: number): Query {
    return this.#joined('and', () => this.#term(depth))
  }

  #joined(type: 'or' | 'and', readPart: () => Query): Query {
    const first = readPart()
    const parts = [first]
    while (this.#take(type) !== undefined) parts.push(readPart())
    return parts.length === 1 ? first : { type, parts: parts.slice() }
  }

  #term(depth: number): Query {
    if (this.#take('open') !== undefined) {
      if (depth >= depthMax) throw this.#misread(`there are more than ${depthMax} levels`)
      const inner = this.or(depth + 1)
      this.#expect('close', 'a parenthesis that closes is expected')
      return inner
    }
    const field = this.#expect('field', 'the name of a property is expected')
    const { comparison } = this.#expect('comparison', 'a comparison such as == is expected')
    const literal = this.#expect('literal', 'a number or a text in quotes is expected')
    const part = compare(field.name, comparison, literal.value)
    if (part === undefined) throw new Misread('texts are compared with == and != only', literal.at)
    return part
  }

  #expect<Type extends Token['type']>(type: Type, problem: string): Token & { type: Type } {
    const token = this.#take(type)
    if (token === undefined) throw this.#misread(problem)
    return token
  }

  #misread(problem: string): Misread {
    return new Misread(problem, this.#tokens[this.#at]?.at ?? this.#length)
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
  field: string,
  comparison: Comparison,
  literal: string | number,
): Query | undefined {
  if (typeof literal === 'number') {
    return { type: 'number', field, literal, holds: orders[comparison] }
  }
  if (comparison !== '==' && comparison !== '!=') return undefined
  return { type: 'text', field, literal, isEqual: comparison === '==' }
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
