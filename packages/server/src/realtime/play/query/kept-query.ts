import type { Query } from './query.ts'

/** The texts of queries that wait, each once; forgotten when they are too many. */
const texts = new Map<string, string>()
const textsMax = 10_000

/** The query for one that waits: most ask for the same, and their texts take memory once. */
export function keptQuery(query: Query): Query {
  switch (query.type) {
    case 'number':
      return { ...query, field: shared(query.field) }
    case 'text':
      return { ...query, field: shared(query.field), literal: shared(query.literal) }
    default:
      return { ...query, parts: query.parts.map(keptQuery) }
  }
}

function shared(text: string): string {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= textsMax) texts.clear()
  // A copy, because a part of a text keeps all of it in memory.
  const own = Buffer.from(text).toString()
  texts.set(own, own)
  return own
}
