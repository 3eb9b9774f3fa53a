import type { RpcAnswer } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { refuse } from '../../kernel/failure.ts'
import { nobodyPlays, openTestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'

describe.each(testBackends)('the runtime in the console on $name', (backend) => {
  const calls: string[][] = []
  let operator: Operator
  let answer: () => RpcAnswer
  beforeEach(async () => {
    calls.length = 0
    answer = () => ({ ok: true, reply: 'pong' })
    const test = await backend.open()
    const consoleRpc = async (method: string, payload: string) => {
      calls.push([method, payload])
      return answer()
    }
    const play = { ...nobodyPlays, script: { ...nobodyPlays.script, consoleRpc } }
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
})
