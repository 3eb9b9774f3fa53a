import { type ScriptFunction, scriptApi } from '@guildhall/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHarness, type Harness } from './host.fixture.ts'

/** What every served function does with arguments that are wrong, derived from the table. */

const rows = Object.entries<ScriptFunction>(scriptApi).filter(([, { planned }]) => !planned)
/** They take any value, end the handler, or are checked by another test. */
const takesAnything = new Set(['fail', 'json.encode'])
const functions = rows.filter(([name, { args }]) => {
  return Object.keys(args).length > 0 && !takesAnything.has(name)
})

/** JavaScript for values that no first argument of the table takes. */
const wrong: { readonly [name: string]: string } = {
  nothing: 'undefined',
  'not a number': 'NaN',
  infinity: 'Infinity',
  fraction: '0.5',
  'beyond 2^53': '2 ** 63',
  'beyond 64 bits': '2n ** 63n',
  symbol: 'Symbol("x")',
  function: '() => 1',
  proxy:
    'new Proxy({}, { ownKeys() { throw new Error("trap") }, get() { throw new Error("trap") } })',
  getter: '({ get id() { throw new Error("getter") } })',
  cycle: '(() => { const a = {}; a.a = a; return a })()',
  'deep list': '(() => { let a = []; for (let n = 0; n < 100; n += 1) a = [a]; return a })()',
  'text of 512 KiB': '"x".repeat(524288)',
  'text of 512 KiB and a byte': '"x".repeat(524289)',
  'lone surrogate': '"\\ud800"',
  map: 'new Map([["a", 1]])',
  'promise that was not awaited': 'Promise.resolve(1)',
}

/** Values that some first argument takes: they are tried where the schema refuses them. */
const typed: { readonly [json: string]: unknown } = {
  null: null,
  true: true,
  '-0': -0,
  '-1': -1,
  '""': '',
  '"\\u0000"': '\u0000',
  '[]': [],
  '{}': {},
  '{"x":1}': { x: 1 },
}

let harness: Harness

beforeAll(async () => {
  const done = () => undefined
  const names = rows.filter(([, { runs }]) => runs !== 'worker').map(([name]) => [name, done])
  harness = createHarness({
    files: {
      'main.ts': `guildhall.on_rpc('try', async (ctx, body) => {
        const [name, code] = JSON.parse(new TextDecoder().decode(body))
        const fn = name.split('.').reduce((at, part) => at[part], guildhall)
        try {
          await fn((0, eval)('(' + code + ')'))
          return 'taken'
        } catch (error) {
          return [error.code, typeof error.message, error.message.length < 300]
        }
      })`,
    },
    functions: Object.fromEntries(names),
  })
  await harness.host.start()
  return () => harness.close()
})

afterAll(() => {
  expect(harness.lines('error')).toEqual([])
})

it.each(functions)(
  '[S-API-1] [S-API-32] %s says invalid_argument for what it does not take',
  async (name, { args }) => {
    const [first] = Object.values(args)
    const refused = Object.entries(typed).flatMap(([code, value]) => {
      return first?.safeParse(value).success === false ? [code] : []
    })
    // A trace takes any text; a text may also be as long as these where no bound is declared.
    const long = (code: string) => code.includes('repeat') || code.includes('ud800')
    const isText = first?.safeParse('x').success === true
    const codes = Object.values(wrong).filter((code) => !(isText && long(code)))
    const optional = first?.safeParse(undefined).success === true
    for (const code of [...codes, ...refused]) {
      if (optional && code === 'undefined') continue
      if (code === '2n ** 63n' && first?.safeParse(2n ** 63n).success) continue
      const answer = await harness.rpc('try', JSON.stringify([name, code]))
      expect(answer, `${name}(${code})`).toBe('["invalid_argument","string",true]')
    }
  },
)

it('[S-API-32] a function takes no more arguments than it has', async () => {
  const { rpc } = harness
  for (const [name, { runs, args }] of rows) {
    if (runs === 'worker' || Object.keys(args).length > 0) continue
    const answer = await rpc('try', JSON.stringify([name, '1']))
    expect(answer, name).toBe('["invalid_argument","string",true]')
  }
})
