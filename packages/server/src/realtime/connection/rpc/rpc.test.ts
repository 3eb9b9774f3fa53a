import {
  rpcRequestBody,
  rpcResponseBody,
  sessionInfoBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { expect, onTestFinished, test } from 'vitest'
import { startRealtime, textOf } from '../../realtime.fixture.ts'

test('[R-RPC-6] clients with option bit 5 read message, code and data', async () => {
  const realtime = await startRealtime()
  onTestFinished(() => realtime.close())
  const client = await realtime.join()
  client.send(44, sessionOptionsBody.encode({ flags: 32 }))
  expect(sessionInfoBody.decode((await client.next()).body).flags).toBe(32)
  const more = { code: 'gold.low', data: { missing: 2n ** 60n } }
  const outcomes = [
    { ok: false as const, error: 'too dear', more },
    { ok: false as const, error: 'out of luck' },
  ]
  const call = rpcRequestBody.encode({ request_id: 7n, method: 'x', payload: new Uint8Array() })
  const seen = []
  for (const outcome of outcomes) {
    realtime.script.onRpc = async () => outcome
    client.send(3, call)
    const { ok, payload } = rpcResponseBody.decode((await client.next()).body)
    seen.push([ok, textOf(payload)])
  }
  expect(seen).toEqual([
    [false, `{"message":"too dear","code":"gold.low","data":{"missing":${2n ** 60n}}}`],
    [false, '{"message":"out of luck","code":"rpc_failed","data":null}'],
  ])
})
