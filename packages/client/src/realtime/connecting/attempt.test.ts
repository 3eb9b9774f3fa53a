import { authBody } from '@guildhall/contract'
import { expect, it, vi } from 'vitest'
import type { WebTransportConstructor } from '../../host.ts'
import { heard, openBench, sessionOf, settle } from '../../testing/connected.ts'
import type { StateEvent } from '../connection-types.ts'

/** A player whose session is due at once, at a server that answers no request. */
async function openDue(options: Parameters<typeof openBench>[0] = {}) {
  const bench = await openBench({
    ...options,
    store: { load: () => sessionOf(bench.host), save() {}, clear() {} },
  })
  const asked: string[] = []
  bench.server.onRequest = (request) => void asked.push(`${request.method} ${request.url}`)
  bench.server.greet = (peer) => peer.accept({ result: { status: 'account', user_id: 'u-1' } })
  await bench.player.restore()
  return { ...bench, asked }
}

it('[R-SDK-24] a guest ignores the session, also one that is due', async () => {
  const { player, server, host, asked } = await openDue()
  server.greet = (peer) => peer.accept()
  host.jump(3_600_000)
  const connection = await player.connect({ as: 'guest' })
  await settle()
  expect(asked).toEqual([])
  await connection.close()
})

it('[R-SDK-7] the bound of an attempt covers the refresh', async () => {
  const { player, host, asked } = await openDue()
  host.jump(3_600_000)
  const connecting = player.connect({ connectTimeoutMs: 700 })
  const failed = expect(connecting).rejects.toMatchObject({ code: 'timeout' })
  await vi.waitFor(() => expect(asked).toEqual(['POST /v1/session/refresh']))
  host.advance(700)
  await failed
})

it('[R-SDK-7] the bound of an attempt covers the question for WebTransport', async () => {
  const WebTransport = class {} as unknown as WebTransportConstructor
  const { player, host, asked } = await openDue({ WebTransport })
  const connecting = player.connect({ connectTimeoutMs: 700 })
  const failed = expect(connecting).rejects.toMatchObject({ code: 'timeout' })
  await vi.waitFor(() => expect(asked).toEqual(['GET /status']))
  host.advance(700)
  await failed
})

it('[R-SDK-7] [R-SDK-9] attempts go on behind a refresh that hangs, until one is answered', async () => {
  const { player, server, host, asked } = await openDue()
  const reconnect = { baseMs: 100, maxMs: 100 }
  const connection = await player.connect({ connectTimeoutMs: 6_000, reconnect })
  const states = heard<StateEvent>((call) => connection.on('state', call))
  const first = await server.connection()
  host.jump(3_600_000)
  first.close(1001)
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ attempt: 0 }))
  host.advance(50)
  await vi.waitFor(() => expect(asked).toHaveLength(1))
  host.advance(6_000)
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ attempt: 1, closeCode: 1006 }))
  server.onRequest = (_request, response) => {
    const { received_at_unix_ms: _, ...pair } = sessionOf(host, { token: 'token-2' })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...pair, created: false }))
  }
  // The refresh of the first attempt ends 10 s after its start, and the next one asks anew.
  host.advance(4_000)
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ attempt: 2 }))
  host.advance(50)
  const { body } = await (await server.connection()).next()
  expect(authBody.decode(body).access_token).toBe('token-2')
  await vi.waitFor(() => expect(connection.state).toBe('open'))
  await connection.close()
  expect(host.timersWaiting()).toBe(0)
})
