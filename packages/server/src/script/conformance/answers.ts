import { type ScriptFunction, scriptApi } from '@guildhall/contract'
import { rowShape, type Shape, shapeOf } from '../functions/shapes.ts'

/** A function of the node, arguments that it takes, and answers of the node. */
export type AnsweredCall = {
  readonly name: string
  readonly isTrusted: boolean
  readonly args: readonly unknown[]
  /** One with all that it may have, and one with as little as it may have. */
  readonly answers: readonly unknown[]
}

/** Something of it is right for every argument of the table. */
const samples: readonly unknown[] = [
  ...['ana', 100, 1, true, {}, ['ana'], null, []],
  ...['x', 'running', { user_ids: ['a'] }, { id: 'x' }, { subject: 'x' }],
  { url: 'http://example.com/' },
  { name: 'x', creator_user_id: 'ana' },
  { user_ids: ['a'], filters: [{ kind: 100, direction: 'inbound' }], duration_ms: 5000 },
  [{ op: 'write', owner: null, collection: 'c', key: 'k', value: { a: [] } }],
  {
    id: 'x',
    leaderboard_id: 'x',
    registration_opens_at_unix_ms: 1,
    registration_closes_at_unix_ms: 1,
    starts_at_unix_ms: 1,
    ends_at_unix_ms: 1,
  },
]

/** What fills a member, and what is hardly there. */
const plain: { readonly [kind: string]: readonly [full: unknown, bare: unknown] } = {
  text: ['ö 😀', ''],
  number: [7.5, 0],
  integer: [7, 0],
  int64: [9_007_199_254_740_993n, -(2n ** 63n)],
  boolean: [true, false],
  bytes: [Uint8Array.of(0, 255), new Uint8Array()],
  json: [{ a: [1, 'ö', [], {}], b: 9_223_372_036_854_775_807n }, {}],
}

/** Every function of the table that asks the node; what it answers is made of its row. */
export const answeredCalls: readonly AnsweredCall[] = Object.entries<ScriptFunction>(scriptApi)
  .filter(([, { runs, planned }]) => runs === 'node' && !planned)
  // JSON has no bytes to show.
  .filter(([name]) => name !== 'http.fetch')
  .map(([name, row]) => {
    const { ok } = rowShape(row)
    const answers = ok === undefined ? [undefined] : [full(ok), bare(ok)]
    return { name, isTrusted: row.tier === 'trusted', args: argumentsFor(name, row), answers }
  })

function argumentsFor(name: string, { args }: ScriptFunction): unknown[] {
  const needed = Object.values(args).filter((schema) => !shapeOf(schema).mayBeAbsent)
  return needed.map((schema) => {
    const sample = samples.find((value) => schema.safeParse(value).success)
    if (sample === undefined) throw new Error(`no sample is right for ${name}`)
    return sample
  })
}

function full(shape: Shape): unknown {
  switch (shape.kind) {
    case 'object':
      return mapValues(shape.members, full)
    case 'list':
      return [full(shape.each), bare(shape.each)]
    case 'record':
      return { 'ö x': full(shape.each), y: bare(shape.each) }
    case 'one of':
      return full(shape.options[0] ?? shape)
    default:
      return plain[shape.kind]?.[0] ?? null
  }
}

function bare(shape: Shape): unknown {
  if (shape.takesNull) return null
  switch (shape.kind) {
    case 'object':
      return mapValues(withoutAbsent(shape.members), bare)
    case 'list':
      return []
    case 'record':
      return {}
    case 'one of':
      return bare(shape.options.at(-1) ?? shape)
    default:
      return plain[shape.kind]?.[1] ?? null
  }
}

type Members = { readonly [name: string]: Shape }

function withoutAbsent(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, { mayBeAbsent }]) => !mayBeAbsent))
}

function mapValues<V, W>(from: { readonly [name: string]: V }, to: (value: V) => W) {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]))
}
