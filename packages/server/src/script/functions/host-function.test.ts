import { type ScriptFunction, scriptApi, stringifyExact } from '@guildhall/contract'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { scriptCaller } from '../../testing/script-calls.fixture.ts'
import { createHarness, type Harness } from '../host.fixture.ts'
import { scriptRows } from './arguments.ts'
import { createHostCallAnswerer } from './host-calls.ts'
import { hostFunction } from './host-function.ts'

const board = {
  id: 'b',
  sort: 'desc',
  operator: 'best',
  reset_schedule: null,
  records: 2,
} as const

function listOf(answer: () => unknown) {
  const row = scriptRows.get('leaderboards.list')
  if (row === undefined) throw new Error('there is no such function')
  return hostFunction('leaderboards.list', row, answer)
}

it('[S-API-1] a function whose schemas cannot be made fails its calls, and nothing else', async () => {
  const name = 'tournaments.list'
  const row = { ...scriptRows.get(name), runs: 'node', args: {} } as ScriptFunction
  Object.defineProperty(row, 'ok', { get: () => expect.fail('no schema') })
  const rows = vi.spyOn(scriptRows, 'get').mockReturnValue(row)
  onTestFinished(() => rows.mockRestore())
  const log = createRecordedLog()
  const functions = { [name]: () => [] }
  const { answer } = createHostCallAnswerer({ functions, tier: 'trusted', log })
  for (const id of [1, 2]) {
    const call = { id, invocation: 1, room_id: null, name, args: [] }
    expect(await answer(call, scriptCaller)).toMatchObject({ id, ok: false, code: 'internal' })
  }
  expect(log.lines).toHaveLength(2)
})

describe('raw answers', () => {
  it('[S-API-26] are the JSON of what is answered otherwise, however long', async () => {
    for (const length of [0, 3, 1100]) {
      const boards = Array.from({ length }, (_, at) => ({ ...board, id: `b${at}` }))
      const list = listOf(() => boards.map((each) => ({ ...each, undeclared: 1 })))
      const raw = await list(scriptCaller, [{ raw: true }])
      expect(raw).toBeInstanceOf(Uint8Array)
      const value = await list(scriptCaller, [])
      expect(value).toEqual(boards)
      expect(new TextDecoder().decode(raw as Uint8Array)).toBe(stringifyExact(value))
    }
  })

  it('are written once for those who share an answer', async () => {
    const shared = [board]
    const list = listOf(() => shared)
    const [first, second] = await Promise.all([
      list(scriptCaller, [{ raw: true }]),
      list(scriptCaller, [{ raw: true }]),
    ])
    expect(second).toBe(first)
    expect(await list(scriptCaller, [{ raw: null }])).toEqual(shared)
  })

  it('[S-API-32] are among the options of every function that has them', () => {
    const having = Object.entries<ScriptFunction>(scriptApi).filter(([, { raw }]) => raw)
    expect(having.length).toBeGreaterThan(0)
    for (const [name, { args, ok, runs }] of having) {
      expect([runs, ok !== undefined], name).toEqual(['node', true])
      expect(Object.keys(args).at(-1), name).toBe('options')
      expect(args.options?.safeParse({ raw: true }).success, name).toBe(true)
      expect(args.options?.safeParse({ raw: 'yes' }).success, name).toBe(false)
    }
    for (const [name, { args, raw }] of Object.entries<ScriptFunction>(scriptApi)) {
      const takesRaw = args.options?.safeParse({ raw: true }).success ?? false
      expect(takesRaw, name).toBe(raw === true)
    }
  })
})

describe('an RPC that hands on a raw answer', () => {
  const shared = [board]
  let harness: Harness | undefined
  beforeAll(async () => {
    const main = `guildhall.on_rpc('top', () => guildhall.leaderboards.list({ raw: true }))
      guildhall.on_rpc('read', async () =>
        guildhall.json.decode(await guildhall.leaderboards.list({ raw: true }))[0].records)
      guildhall.on_rpc('changed', async () => {
        const list = await guildhall.leaderboards.list({ raw: true })
        list[0] = 0x7b
        return list
      })
      guildhall.on_rpc('second', async () => {
        const [first, second] = await Promise.all([
          guildhall.leaderboards.list({ raw: true }),
          guildhall.leaderboards.get('b', 'u', { raw: true }),
        ])
        return first.length > second.length ? second : first
      })`
    harness = createHarness({
      files: { 'main.js': main },
      functions: { 'leaderboards.list': () => shared, 'leaderboards.get': () => null },
    })
    await harness.host.start()
  })
  afterAll(() => harness?.close())

  it('[S-API-26] replies with it, byte by byte', async () => {
    expect(await harness?.rpc('top')).toBe(JSON.stringify([board]))
    expect(await harness?.rpc('read')).toBe('2')
    expect(await harness?.rpc('second')).toBe('null')
  })

  it('[S-API-26] changes bytes of its own, not those of calls that share the answer', async () => {
    const text = JSON.stringify(shared)
    const methods = ['top', 'changed', 'top', 'changed']
    const replies = await Promise.all(methods.map((method) => harness?.rpc(method)))
    expect(replies).toEqual([text, `{${text.slice(1)}`, text, `{${text.slice(1)}`])
  })
})
