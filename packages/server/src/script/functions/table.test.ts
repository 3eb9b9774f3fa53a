import { runInThisContext } from 'node:vm'
import { type ScriptFunction, scriptApi } from '@guildhall/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createHarness, type Harness } from '../host.fixture.ts'

/** What every served function does with arguments that are wrong, derived from the table. */

const rows = Object.entries<ScriptFunction>(scriptApi).filter(([, { planned }]) => !planned)
/** They take any value, end the handler, or are checked by another test. */
const takesAnything = new Set(['fail', 'json.encode'])
const functions = rows.filter(([name, { args }]) => {
  return Object.keys(args).length > 0 && !takesAnything.has(name)
})

/** JavaScript for values of every kind; each is tried where the schema refuses it. */
const values = [
  ...['undefined', 'null', 'true', 'false', '0', '-0', '1', '-1', '0.5', 'NaN', 'Infinity'],
  ...[
    '2 ** 53',
    '2 ** 63',
    '-(2 ** 63)',
    '1e300',
    '1n',
    '2n ** 63n - 1n',
    '2n ** 63n',
    '-(2n ** 63n) - 1n',
  ],
  ...['""', '" "', '"\\u0000"', '"\\ud800"'],
  ...['[]', '[null]', '[[]]', '["x", 1]', '{}', '({ x: 1 })', '({ __proto__: null, y: [] })'],
]

/** Ever larger: the smallest that is refused is tried, for each costs by its size. */
const growing = [
  ['"x".repeat(5000)', '"x".repeat(524288)', '"x".repeat(524289)'],
  ['new Uint8Array(3)', 'new Uint8Array(524289)'],
]

/** What no argument takes, whatever its schema says of it. */
const never = [
  'Symbol("x")',
  'new Proxy({}, { ownKeys() { throw new Error("trap") }, get() { throw new Error("trap") } })',
  'new Proxy([], { get() { throw new Error("trap") } })',
  '({ get id() { throw new Error("getter") } })',
  '({ toJSON() { throw new Error("toJSON") } })',
  '(() => { const a = {}; a.a = a; return a })()',
  '(() => { const a = []; a.push(a); return a })()',
  '(() => { let a = []; for (let n = 0; n < 100; n += 1) a = [a]; return a })()',
  'new Map([["a", 1]])',
  'Promise.resolve(1)',
  '({ a: () => 1 })',
  '({ a: NaN })',
  '({ a: 2n ** 64n })',
]

/** JavaScript of which something is right for every argument of the table. */
const samples = [
  ...['"{}"', '"ana"', '100', '1', 'true', '{}', '["ana"]', '"x"', '() => undefined', 'null', '[]'],
  ...['"accepted"', '"info"', '"match"', '({ user_ids: ["a"] })', '({ id: "x" })'],
  '({ url: "http://example.com/" })',
  '({ user_ids: ["a"], filters: [{ kind: 100, direction: "inbound" }], duration_ms: 5000 })',
  '({ subject: "x" })',
  '({ type: "access.revoked", channel_id: "c" })',
  '({ name: "x", creator_user_id: "ana" })',
  '"running"',
  `({ id: 'x', leaderboard_id: 'x', registration_opens_at_unix_ms: 1,
    registration_closes_at_unix_ms: 1, starts_at_unix_ms: 1, ends_at_unix_ms: 1 })`,
  '[{ op: "write", owner: null, collection: "c", key: "k", value: {} }]',
  `({ id: 1, user_id: null, subject: "x", content: {}, code: 0, created_at_unix_ms: 1,
    read: false, read_at_unix_ms: null })`,
]

type Attempt = { name: string; args: readonly string[] }

let harness: Harness

beforeAll(async () => {
  const done = () => undefined
  const names = rows.filter(([, { runs }]) => runs !== 'worker').map(([name]) => [name, done])
  harness = createHarness({
    files: {
      'main.js': `guildhall.on_rpc('try', async (ctx, body) => {
        const answers = []
        for (const { name, args } of JSON.parse(new TextDecoder().decode(body))) {
          const fn = name.split('.').reduce((at, part) => at[part], guildhall)
          const given = args.map((code) => (0, eval)('(' + code + ')'))
          try {
            const timer = await fn(...given)
            if (name === 'after' || name === 'every') guildhall.cancel(timer)
            answers.push('taken')
          } catch (error) {
            const isGood = typeof error.message === 'string' && error.message.length < 300
            answers.push(isGood ? error.code : 'a bad message')
          }
        }
        return answers
      })
      guildhall.on_message(1, () => {})`,
    },
    functions: Object.fromEntries(names),
    // What is measured is not the time: 32 hostile arguments may take a busy machine a second.
    config: { deadline_ms: 5000 },
  })
  await harness.host.start()
  return () => harness.close()
})

afterAll(() => {
  expect(harness.lines('error')).toEqual([])
  expect(harness.host.metrics().script_worker_restarts_total).toBe(0)
})

/** As many at a time as one call has the time for. */
const attemptsMax = 32

async function answersTo(attempts: readonly Attempt[]): Promise<string[]> {
  const answers: string[] = []
  for (let at = 0; at < attempts.length; at += attemptsMax) {
    const part = attempts.slice(at, at + attemptsMax)
    const reply = await harness.rpc('try', JSON.stringify(part))
    expect(reply, JSON.stringify(part)).toBeTypeOf('string')
    answers.push(...(JSON.parse(String(reply)) as string[]))
  }
  return answers
}

const known = new Map<string, unknown>()

function evaluated(code: string): unknown {
  if (!known.has(code)) known.set(code, runInThisContext(`(${code})`))
  return known.get(code)
}

function takes(schema: z.ZodType, code: string): boolean {
  try {
    return schema.safeParse(evaluated(code)).success
  } catch {
    return false
  }
}

/** JavaScript for a right value of an argument. */
function sampleOf(name: string, schema: z.ZodType): string {
  const sample = samples.find((code) => takes(schema, code))
  if (sample === undefined) throw new Error(`no sample is right for ${name}`)
  return sample
}

/** The members that an object may have, for arguments that are objects. */
function membersOf(schema: z.ZodType): [string, z.ZodType][] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return membersOf(schema.unwrap() as z.ZodType)
  }
  return schema instanceof z.ZodObject
    ? (Object.entries(schema.shape) as [string, z.ZodType][])
    : []
}

function refusedOf(schema: z.ZodType): string[] {
  const smallest = growing.flatMap((sizes) => sizes.find((code) => !takes(schema, code)) ?? [])
  return [...values.filter((code) => !takes(schema, code)), ...smallest]
}

/** JavaScript for what an argument refuses: other values, and the same with one other member. */
function wrongOf(name: string, schema: z.ZodType): string[] {
  const plain = [...refusedOf(schema), ...never, ...(takes(schema, '() => 1') ? [] : ['() => 1'])]
  const members = membersOf(schema)
  if (members.length === 0) return plain
  const base = sampleOf(
    name,
    z.lazy(() => (schema instanceof z.ZodOptional ? schema.unwrap() : schema) as z.ZodType),
  )
  const inside = members.flatMap(([member, inner]) => {
    const wrong = refusedOf(inner).filter((code) => code !== 'undefined')
    return [...wrong, ...never].map((code) => `Object.assign(${base}, { ${member}: ${code} })`)
  })
  return [...plain, ...inside, `Object.assign(${base}, { stranger: 1 })`]
}

const everyArgument = functions.flatMap(([name, { args }]) => {
  return Object.entries(args).map(([argument, schema], at) => ({
    name,
    argument,
    schema,
    at,
    args,
  }))
})

it.each(everyArgument)(
  '[S-API-1] [S-API-32] $name says invalid_argument for a wrong $argument',
  async ({ name, schema, at, args }) => {
    const right = Object.entries(args).map(([argument, each]) =>
      sampleOf(`${name} ${argument}`, each),
    )
    const attempts = wrongOf(name, schema).map((code) => {
      return { name, args: right.map((sample, n) => (n === at ? code : sample)) }
    })
    const answers = await answersTo(attempts)
    for (const [n, attempt] of attempts.entries()) {
      expect(answers[n], `${name}(${attempt.args.join(', ')})`).toBe('invalid_argument')
    }
  },
)

it.each(functions)(
  '[S-API-32] %s takes no more arguments than it has',
  async (name, { args, runs }) => {
    if (runs === 'worker') return
    const right = Object.entries(args).map(([argument, each]) =>
      sampleOf(`${name} ${argument}`, each),
    )
    expect(await answersTo([{ name, args: [...right, '1'] }])).toEqual(['invalid_argument'])
  },
)

it('takes what is right', async () => {
  // A result is for a match, and this call has none.
  const others = functions.filter(([name]) => name !== 'match.set_result')
  const attempts = others.map(([name, { args }]) => ({
    name,
    args: Object.entries(args).map(([argument, each]) => sampleOf(`${name} ${argument}`, each)),
  }))
  const answers = await answersTo(attempts)
  const refused = attempts.flatMap(({ name, args }, n) =>
    answers[n] === 'taken' ? [] : [`${name}(${args}): ${answers[n]}`],
  )
  expect(refused).toEqual([])
})
