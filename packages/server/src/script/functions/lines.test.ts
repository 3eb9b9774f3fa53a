import { describe, expect, it } from 'vitest'
import type { FilterCandidate, IndexFilterPort } from '../../kernel/play/script.ts'
import { type HarnessOptions, player, startHarness } from '../host.fixture.ts'

const script = (text: string, options: HarnessOptions = {}) =>
  startHarness({ files: { 'main.js': text }, ...options })

const attempt =
  'const attempt = (fn) => { try { return fn() } catch (error) { return error.code } }'

describe('log.write and match.set_result', () => {
  const kept = { durable: true, payloadBytesMax: 20, idSalt: 'abcd' }

  it('[S-LOG-2] [R-GEN-5] return an id of the worker at once, which the node gets with the line', async () => {
    const lines: unknown[] = []
    const { rpc } = await script(
      `guildhall.on_rpc('write', (ctx, body) => [
        guildhall.log.write('INFO', 'shop', ' sold ', { item: 1 }),
        guildhall.log.write('info', 'shop', 'again', '{"a": 1}'),
      ])`,
      {
        lines: kept,
        functions: {
          'log.write': (caller, args, made) => {
            lines.push([args, made, caller.match_id])
          },
        },
      },
    )
    const about = player(1, { room_id: 9, match_id: 'mt1-9' })
    const [first, second] = JSON.parse(String(await rpc('write', '', about)))
    expect(first).toMatch(/^ml1-[0-9a-f]{13}abcd000100000001$/)
    expect(second).toMatch(/^ml1-[0-9a-f]{13}abcd000100000002$/)
    const line = { level: 'info', tag: 'shop', message: 'sold', payload: { item: 1 } }
    expect(lines).toEqual([
      [line, first, 'mt1-9'],
      [{ ...line, message: 'again', payload: '{"a": 1}' }, second, 'mt1-9'],
    ])
  })

  it('[S-LOG-1] refuse what is out of bounds', async () => {
    const { rpc } = await script(
      `${attempt}
      guildhall.on_rpc('try', () => [
        ['loud', 't', 'm'], ['info', '.t', 'm'], ['info', 'a..b', 'm'], ['info', 'T', 'm'],
        ['info', 't', ' '], ['info', 't', 'a\\u0001'], ['info', 't', 'x'.repeat(1025)],
        ['info', 't', 'm', 7], ['info', 't', 'm', '7'], ['info', 't', 'm', { long: 'x'.repeat(20) }],
      ].map((args) => attempt(() => guildhall.log.write(...args))))`,
      { lines: kept },
    )
    const codes: string[] = JSON.parse(String(await rpc('try')))
    expect(codes).toEqual(codes.map(() => 'invalid_argument'))
  })

  it('[S-LOG-3] [S-LOG-4] answer null and false without a durable backend, and need a room', async () => {
    const { rpc } = await script(
      `${attempt}
      guildhall.on_rpc('try', () => [
        guildhall.log.write('info', 't', 'm'),
        attempt(() => guildhall.match.set_result({ winner: 1 })),
        attempt(() => guildhall.match.set_result([1])),
      ])`,
    )
    expect(await rpc('try')).toBe('[null,"invalid_argument","invalid_argument"]')
    const inRoom = player(1, { room_id: 9, match_id: 'mt1-9' })
    expect(await rpc('try', '', inRoom)).toBe('[null,false,"invalid_argument"]')
  })
})

describe('filters of storage indexes', () => {
  it('[S-IX-4] judge at once; a promise, an error and anything but a boolean fail', async () => {
    const filters = new Map<string, (candidate: FilterCandidate) => Promise<boolean>>()
    const setIndexFilter: IndexFilterPort = async (index, filter) => {
      if (filter) filters.set(index, filter)
      else filters.delete(index)
      return true
    }
    const { host } = await script(
      `guildhall.register_storage_index_filter('level', ({ value }) => value.level > 10)
       guildhall.register_storage_index_filter('later', async () => true)
       guildhall.register_storage_index_filter('odd', () => 1)`,
      { setIndexFilter },
    )
    const judge = (index: string, level: number) =>
      filters.get(index)?.({ user_id: null, collection: 'c', key: 'k', value: { level } })
    expect(host.describe().script?.hooks).toEqual(['register_storage_index_filter'])
    expect(await judge('level', 11)).toBe(true)
    expect(await judge('level', 3)).toBe(false)
    await expect(judge('later', 1)).rejects.toThrow('error')
    await expect(judge('odd', 1)).rejects.toThrow('error')
  })

  it('[S-IX-4] warn once of an index that is not declared, and not again when they end', async () => {
    const setIndexFilter: IndexFilterPort = async () => false
    const { host, lines } = await script(
      "guildhall.register_storage_index_filter('nowhere', () => true)",
      { setIndexFilter },
    )
    await host.stop()
    expect(lines('warn')).toMatchObject([
      { message: 'a filter is for an index that is not declared', fields: { index: 'nowhere' } },
    ])
  })
})

describe('timers, counters and JSON', () => {
  it('[S-API-29] runs again and again, skips while one run lasts, and goes on after a failure', async () => {
    const { rpc, until, host } = await script(`
      let runs = 0
      let slow = 0
      const timer = guildhall.every(10, () => { runs += 1; if (runs === 1) throw new Error('x') })
      guildhall.every(10, async () => { slow += 1; await new Promise((go) => setTimeout(go, 200)) })
      guildhall.on_start(async () => { await new Promise((go) => setTimeout(go, 50)); runs = 0 })
      guildhall.on_rpc('runs', () => [runs, slow])
      guildhall.on_rpc('stop', () => [guildhall.cancel(timer), guildhall.cancel(timer)])`)
    await until(() => host.metrics().script_ticks_skipped_total >= 3)
    let [runs, slow] = [0, 0]
    while (runs < 2 || slow >= runs) [runs, slow] = JSON.parse(String(await rpc('runs')))
    expect(await rpc('stop')).toBe('[true,false]')
  })

  it('[S-API-28] allow gives as many as the limit, and starts anew with another limit', async () => {
    const { rpc } = await script(`
      guildhall.on_rpc('allow', () => [
        ...[1, 2, 3].map(() => guildhall.allow('a', 2, 86400000)),
        guildhall.allow('b', 1, 86400000), guildhall.allow('a', 3, 86400000),
      ])`)
    expect(await rpc('allow')).toBe('[true,true,false,true,true]')
  })

  it('[S-API-30] json.encode and json.decode keep to JSON of 64 levels', async () => {
    const { rpc } = await script(`${attempt}
      const deep = (levels) => { let a = 1; for (let n = 0; n < levels; n += 1) a = [a]; return a }
      const text = (bytes) => new TextDecoder().decode(bytes)
      const { encode, decode } = guildhall.json
      guildhall.on_rpc('try', () => [
        text(encode({ a: [1n, 'ü', null], b: -0 })), decode('{"a":[1]}'), decode(encode('x')),
        attempt(() => encode({ a: undefined })), attempt(() => encode(deep(65))),
        attempt(() => decode('{')), attempt(() => decode(JSON.stringify(deep(65)))),
        typeof encode(deep(64)), attempt(() => decode(new Uint8Array([255]))),
        text(encode(decode('{"gold":9223372036854775807}'))),
      ])`)
    expect(JSON.parse(String(await rpc('try')))).toEqual([
      '{"a":[1,"ü",null],"b":0}',
      { a: [1] },
      'x',
      ...Array(4).fill('invalid_argument'),
      'object',
      'invalid_argument',
      '{"gold":9223372036854775807}',
    ])
  })
})
