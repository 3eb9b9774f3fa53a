import type { RpcAnswer } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { OtherNodes } from '../../kernel/cluster/other-nodes.ts'
import { refuse } from '../../kernel/failure.ts'
import type { OpenRoom } from '../../kernel/play/rooms.ts'
import { nobodyPlays, openTestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'

const openRoom: OpenRoom = {
  ...{ room_id: 5, match_id: 'mt1-5', name: null, map: '', mode: '', max_players: 0, open: true },
  ...{ tick: false, listed: false, properties: {}, players: 1, binding: null },
}

describe.each(testBackends)('the runtime in the console on $name', (backend) => {
  const calls: string[][] = []
  let operator: Operator
  let answer: () => RpcAnswer
  let there: (id: number, question: unknown) => ReturnType<OtherNodes['askOwner']>
  let serve: ((question: unknown) => Promise<unknown>) | undefined
  beforeEach(async () => {
    calls.length = 0
    there = async () => undefined
    answer = () => ({ ok: true, reply: 'pong' })
    const test = await backend.open()
    const consoleRpc = async (method: string, payload: string) => {
      calls.push([method, payload])
      return answer()
    }
    const nodes: OtherNodes = {
      ...nobodyPlays.nodes,
      askOwner: (id, _about, question) => there(id, question),
      serve(about, own) {
        if (about === 'console rpc') serve = own
      },
    }
    const gateway = {
      ...nobodyPlays.gateway,
      room: async (id: number) => (id === 5 ? openRoom : undefined),
    }
    const script = { ...nobodyPlays.script, consoleRpc }
    const play = { ...nobodyPlays, script, gateway, nodes }
    const api = await openTestApi({ db: test.db, play })
    operator = await openOperator(api)
    return async () => {
      await api.close()
      await test.dispose()
    }
  })
  const rpc = (method: string, body: unknown, headers = {}) =>
    operator.send('POST', `/runtime/rpc/${method}`, body, headers)

  it('[H-RUN-1] shows the view with every key', async () => {
    const { status, body } = await operator.send('GET', '/runtime')
    expect([status, body]).toEqual([200, nobodyPlays.script.describe()])
  })

  it('[S-VIEW-3] shows what fails in the script', async () => {
    const { status, body } = await operator.send('GET', '/runtime/failures')
    expect([status, body]).toEqual([200, nobodyPlays.script.failures()])
  })

  it('[H-RUN-2] [H-RUN-3] [S-CRPC-3] calls an RPC, and records whether it went well', async () => {
    const first = await rpc('add%20up', { payload: '{"secret":1}' })
    expect([first.status, first.body]).toEqual([200, { ok: true, reply: 'pong' }])
    answer = () => ({ ok: false, error: 'unknown RPC method' })
    const second = await rpc('add%20up', { payload: '' })
    expect([second.status, second.body]).toEqual([200, { ok: false, error: 'unknown RPC method' }])
    expect(calls).toEqual([
      ['add up', '{"secret":1}'],
      ['add up', ''],
    ])
    expect(await operator.trailOf('rpc add up')).toEqual([
      ['runtime.rpc', 'ok=true'],
      ['runtime.rpc', 'ok=false'],
    ])
  })

  it('[H-RUN-2] refuses what is malformed before anything is called', async () => {
    for (const body of [{}, { payload: null }, { payload: {} }, { payload: 7 }, [], '"x"']) {
      expect((await rpc('ping', body)).status).toBe(400)
    }
    for (const method of ['a%00b', 'x'.repeat(129)]) {
      expect((await rpc(method, { payload: '' })).status, method).toBe(400)
    }
    expect(calls).toEqual([])
  })

  it('[S-GATE-2] [H-AUD-2] a closed gate is 503, and nothing is recorded', async () => {
    answer = () => {
      throw refuse.runtimeUnavailable('not ready')
    }
    const refused = await rpc('ping', { payload: '' })
    expect([refused.status, refused.body]).toEqual([
      503,
      { code: 'runtime_unavailable', message: 'game script unavailable' },
    ])
    expect(await operator.trailOf('rpc ping')).toEqual([])
  })

  it('[H-IDM-4] a repeat under its key calls nothing again', async () => {
    const key = { 'idempotency-key': 'once' }
    const first = await rpc('ping', { payload: '' }, key)
    answer = () => ({ ok: true, reply: 'other' })
    const again = await rpc('ping', { payload: '' }, key)
    expect(again.text).toBe(first.text)
    expect(calls).toHaveLength(1)
  })

  it('[R-CL-21] calls an RPC on the node of a room, as the operator who asks', async () => {
    const here = { payload: 'x', room_id: 5 }
    expect((await rpc('ping', here)).body).toEqual({ ok: true, reply: 'pong' })
    expect(calls).toEqual([['ping', 'x']])
    there = async (id, question) => {
      calls.push([String(id), JSON.stringify(question)])
      return { node_id: 'two', value: { is: { ok: true, reply: 'from there' } } }
    }
    const answer = await rpc('ping', { payload: 'y', room_id: 8 })
    expect([answer.status, answer.body]).toEqual([200, { ok: true, reply: 'from there' }])
    const operator_ = { username: 'admin', role: 'admin' }
    expect(JSON.parse(calls[1]?.[1] ?? '')).toMatchObject({
      ...{ room_id: 8, method: 'ping', payload: 'y', operator: operator_ },
    })
    expect(await operator.trailOf('rpc ping')).toHaveLength(2)
  })

  it('[R-CL-21] is 404 without such a room, 503 where its node is silent or not ready', async () => {
    const status = async () => (await rpc('ping', { payload: '', room_id: 8 })).status
    expect(await status()).toBe(404)
    there = async () => ({ node_id: 'two', value: null })
    expect(await status()).toBe(404)
    there = async () => 'silent'
    expect(await status()).toBe(503)
    there = async () => ({ node_id: 'two', value: { is: 'closed' } })
    expect(await status()).toBe(503)
    expect(await operator.trailOf('rpc ping')).toEqual([])
  })

  it('[R-CL-21] answers another node about a room of its own', async () => {
    const operator_ = { username: 'root', role: 'admin' }
    const asked = { room_id: 5, method: 'ping', payload: 'z', operator: operator_ }
    expect(await serve?.(asked)).toEqual({ is: { ok: true, reply: 'pong' } })
    expect(calls).toEqual([['ping', 'z']])
    expect(await serve?.({ ...asked, room_id: 6 })).toBeUndefined()
    for (const bad of [null, 5, {}, { ...asked, method: 1 }]) {
      expect(await serve?.(bad)).toBeUndefined()
    }
    answer = () => {
      throw refuse.runtimeUnavailable('not ready')
    }
    expect(await serve?.(asked)).toEqual({ is: 'closed' })
  })
})
