import { describe, expect, it } from 'vitest'
import { Failure, refuse } from '../../kernel/failure.ts'
import { type ScriptCaller, ScriptFailure } from '../../kernel/play/script.ts'
import { player, startHarness } from '../host.fixture.ts'
import type { HostFunctions } from '../ports.ts'

const script = (text: string, functions: HostFunctions) =>
  startHarness({ files: { 'main.js': text }, functions })

const calls = `
  const seen = (error) => [error instanceof Error, error.name, error.code, error.message]
  const attempt = (work) => Promise.resolve().then(work).catch(seen)
`

describe('what scripts ask of the features', () => {
  it('[S-API-2] carries arguments and answers unchanged, 64-bit integers too', async () => {
    const asked: unknown[][] = []
    const note = (name: string, answer: unknown) => (_caller: ScriptCaller, args: object) => {
      asked.push([name, args])
      return answer
    }
    const cup = { id: 'cup' }
    const result = { user_id: 'ana', rank: 1, score: 9223372036854775807n, subscore: -1n }
    const { rpc } = await script(
      `guildhall.on_rpc('all', async () => {
        const { list, get, register, entries, results } = guildhall.tournaments
        const [first] = await results('cup')
        return [await list(), await get('cup'), await register('cup', 'ana'),
          await entries('cup'), String(first.score), typeof first.score, String(first.subscore)]
      })`,
      {
        'tournaments.list': note('list', []),
        'tournaments.get': note('get', null),
        'tournaments.register': note('register', { user_id: 'ana', secret: 1 }),
        'tournaments.entries': note('entries', [{ registered_at: 1 }]),
        'tournaments.results': note('results', [result]),
      },
    )
    expect(JSON.parse(String(await rpc('all')))).toEqual([
      [],
      null,
      { user_id: 'ana' },
      [{ registered_at: 1 }],
      '9223372036854775807',
      'bigint',
      '-1',
    ])
    expect(asked).toEqual([
      ['results', cup],
      ['list', {}],
      ['get', cup],
      ['register', { id: 'cup', user_id: 'ana' }],
      ['entries', cup],
    ])
  })

  it('[S-API-1] raises refusals with code, index and reason, and hides what broke', async () => {
    const failures: [Error, string, string][] = [
      [refuse.invalid('id must be short'), 'invalid_argument', 'id must be short'],
      [refuse.notFound('no such x'), 'not_found', 'tournaments.get: no such x'],
      [refuse.conflict('it takes no entrants now'), 'conflict', 'it takes no entrants now'],
      [refuse.forbidden('not yours'), 'forbidden', 'tournaments.get: not yours'],
      [
        refuse.runtimeUnavailable('it is being built'),
        'unavailable',
        'tournaments.get: not available now',
      ],
      [
        new Failure('deadline_exceeded', { reason: 'x' }),
        'timeout',
        'tournaments.get: the call took too long',
      ],
      [refuse.rateLimited(1, 'x'), 'limit_exceeded', 'tournaments.get: too many requests'],
      [new ScriptFailure('http_error', 'refused', 'ip_literal_forbidden'), 'http_error', 'refused'],
      [new Error('password of the database'), 'internal', 'tournaments.get: the call failed'],
    ]
    const { rpc, lines } = await script(
      `${calls}
      guildhall.on_rpc('one', (ctx, body) =>
        attempt(() => guildhall.tournaments.get(new TextDecoder().decode(body))))
      guildhall.on_rpc('more', async () => {
        const error = await guildhall.tournaments.entries('x').catch((error) => error)
        const other = await guildhall.tournaments.get('7').catch((error) => error)
        return [error.code, error.index, other.code, other.reason]
      })
      guildhall.on_rpc('unserved', () => attempt(() => guildhall.tournaments.list()))`,
      {
        'tournaments.get': (_caller: unknown, { id }: { id: string }) => {
          throw failures[Number(id)]?.[0]
        },
        'tournaments.entries': () => {
          throw new Failure('conflict', { reason: 'x', text: 'x', index: 3 })
        },
      },
    )
    for (const [index, [, code, message]] of failures.entries()) {
      const raised = JSON.parse(String(await rpc('one', String(index))))
      expect(raised).toEqual([true, 'GuildhallError', code, message])
    }
    expect(await rpc('more')).toBe('["conflict",3,"http_error","ip_literal_forbidden"]')
    expect(await rpc('unserved')).toMatch('tournaments.list is not available')
    expect(lines('error')).toMatchObject([
      { message: 'a call of the script failed', fields: { function: 'tournaments.get' } },
    ])
  })

  it('[S-API-1] [S-API-22] [S-API-25] says which operation has the argument that is wrong', async () => {
    const { rpc } = await script(
      `const booking = { op: 'wallet', user_id: 'ana', currency: 'gold', delta: 1 }
      const write = { op: 'write', owner: null, collection: 'c', key: 'k', value: {} }
      const loop = { ...write, value: {} }
      loop.value.loop = loop
      const calls = [
        () => guildhall.transact([booking, write, { ...booking, delta: 0 }]),
        () => guildhall.transact([booking, { op: 'unknown' }, 7]),
        () => guildhall.transact([booking, { ...booking, stranger: 1 }], { stranger: 1 }),
        () => guildhall.transact([booking, { op: 'notify', subject: '' }]),
        () => guildhall.transact([write, { ...write, value: { n: NaN } }]),
        () => guildhall.transact([write, write, loop]),
        () => guildhall.transact([undefined]),
        () => guildhall.transact(new Array(2 ** 32 - 1)),
        () => guildhall.storage_write_many([write, { ...write, key: '' }]),
        () => guildhall.storage_write_many([write, write, booking]),
        () => guildhall.storage_write_many([write, { ...write, value: () => 1 }]),
        () => guildhall.transact([]),
        () => guildhall.transact([booking], { as: '' }),
        () => guildhall.transact(7),
        () => guildhall.accounts.lookup({ user_ids: ['ana', ''] }),
      ]
      guildhall.on_rpc('all', async () => {
        const seen = []
        for (const call of calls) {
          const error = await call().catch((error) => error)
          seen.push([error.code, error.index ?? null])
        }
        return seen
      })`,
      {
        transact: () => ({ replayed: false, results: [] }),
        storage_write_many: () => [],
        'accounts.lookup': () => [],
      },
    )
    const indexes = [2, 1, 1, 1, 1, 2, 0, null, 1, 2, 1, null, null, null, null]
    const expected = indexes.map((index) => ['invalid_argument', index])
    expect(JSON.parse(String(await rpc('all')))).toEqual(expected)
  })

  it('[S-GEN-2] log a refusal with the line that awaits it', async () => {
    const { rpc, lines } = await script(
      `const { get, list } = guildhall.tournaments
      guildhall.on_rpc('direct', async () => {
        await get('x')
      })
      guildhall.on_rpc('deep', () => outer())
      async function outer() {
        await inner()
      }
      async function inner() {
        await get('x')
      }
      guildhall.on_rpc('together', async () => {
        await list()
        await Promise.all([list(), get('x')])
      })`,
      {
        'tournaments.list': () => [],
        'tournaments.get': () => {
          throw refuse.conflict('no')
        },
      },
    )
    for (const method of ['direct', 'deep', 'together']) await rpc(method)
    const places = lines('warn').map(({ fields }) => [fields?.method, fields?.at])
    expect(places).toEqual([
      ['direct', 'main.js:3'],
      ['deep', 'main.js:10'],
      ['together', 'main.js:14'],
    ])
  })

  it("[S-GEN-2] log a throw with the author's line that led there", async () => {
    const { rpc, lines } = await startHarness({
      files: {
        'main.js': `import { open } from 'pack'
          import { price } from './shop.ts'
          guildhall.on_rpc('package', () => {
            open(undefined)
          })
          guildhall.on_rpc('helper', () => {
            return price('sword')
          })`,
        'shop.ts': `const prices = {}
          export function price(item) {
            return read(prices[item])
          }
          function read(entry) {
            return entry.gold
          }`,
        'node_modules/pack/package.json': '{"name":"pack","type":"module","main":"index.js"}',
        'node_modules/pack/index.js': `export const open = (box) => deep(box, 12)
          const deep = (box, left) => (left > 0 ? [deep(box, left - 1)] : box.lid)`,
      },
    })
    for (const method of ['package', 'helper']) await rpc(method)
    const failed = lines('warn').map(({ fields }) => [fields?.at, fields?.reason])
    expect(failed).toEqual([
      [
        'main.js:4',
        "TypeError: Cannot read properties of undefined (reading 'lid')" +
          ' (thrown at node_modules/pack/index.js:2)',
      ],
      [
        'shop.ts:6',
        "TypeError: Cannot read properties of undefined (reading 'gold')" +
          ' (called from shop.ts:3, main.js:7)',
      ],
    ])
  })

  it('[S-WP-2] says whom a call runs for: origin, participant, room, match and revision', async () => {
    const callers: ScriptCaller[] = []
    const { rpc, host } = await script(
      `guildhall.on_rpc('ask', async () => void (await guildhall.tournaments.list()))`,
      {
        'tournaments.list': (caller) => {
          callers.push(caller)
          return []
        },
      },
    )
    await rpc('ask', '', player(7, { room_id: 9, match_id: 'mt1-x' }))
    await host.consoleRpc('ask', '')
    const revision_id = host.describe().readiness.revision_id
    expect(callers).toMatchObject([
      {
        origin: 'player',
        participant: 7,
        user_id: 'user-7',
        room_id: 9,
        match_id: 'mt1-x',
        revision_id,
      },
      {
        origin: 'console',
        participant: 0,
        user_id: null,
        room_id: null,
        match_id: null,
        revision_id,
      },
    ])
  })

  it('[S-HK-3] [S-API-2] writes a bigint as a JSON integer, and refuses what is beyond 64 bits', async () => {
    const { rpc } = await script(
      `guildhall.on_rpc('big', () => ({ a: 9223372036854775807n, b: [-1n, 2] }))
       guildhall.on_rpc('huge', () => ({ a: 9223372036854775808n }))`,
      {},
    )
    expect(await rpc('big')).toBe('{"a":9223372036854775807,"b":[-1,2]}')
    expect(await rpc('huge')).toEqual({ error: 'RPC handler error' })
  })

  it('[S-TIER-3] a script changes nothing of the interface', async () => {
    const { rpc } = await script(
      `guildhall.on_rpc('frozen', () => [guildhall.tournaments, guildhall.tournaments.register]
        .map((part) => Object.isFrozen(part)))`,
      {},
    )
    expect(await rpc('frozen')).toBe('[true,true]')
  })
})
