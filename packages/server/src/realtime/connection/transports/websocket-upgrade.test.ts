import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { errorTable, realtimeApi } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type RawClient,
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  waiting,
} from '../../realtime.fixture.ts'
import { upgradeRequest } from '../../websocket-bytes.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

describe('the upgrade', () => {
  test('[R-WS-1] the query string is ignored and nothing but the upgrade is negotiated', async () => {
    realtime = await startRealtime()
    const raw = await realtime.connectRaw(
      upgradeRequest({ 'Sec-WebSocket-Extensions': 'permessage-deflate' }),
    )
    const answer = await raw.until('\r\n\r\n')
    expect(answer).toContain('101 Switching Protocols')
    expect(answer).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    expect(answer).not.toMatch(/extensions|protocol:/i)
  })

  test.each([
    ['version 8', { 'Sec-WebSocket-Version': '8' }],
    ['no version', { 'Sec-WebSocket-Version': undefined }],
    ['no key', { 'Sec-WebSocket-Key': undefined }],
    ['a short key', { 'Sec-WebSocket-Key': 'abcd' }],
    ['no Host', { Host: undefined }],
    ['two hosts', { Host: 'a\r\nHost: b' }],
    ['an announced body', { 'Content-Length': '100' }],
  ])('[R-WS-1] %s is 400 invalid_request', async (_name, headers) => {
    realtime = await startRealtime()
    const raw = await realtime.connectRaw(upgradeRequest(headers))
    const answer = await refusal(raw)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ code: 'invalid_request' })
    expect(realtime.gateway.metrics().connections_accepted_total).toBe(0)
  })

  test('[R-WS-1] HTTP/1.0 is 400 invalid_request', async () => {
    realtime = await startRealtime()
    const raw = await realtime.connectRaw(upgradeRequest().replace('HTTP/1.1', 'HTTP/1.0'))
    expect(await refusal(raw)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  test.each([
    ['no origin', undefined, 101],
    ['the listed origin', 'https://game.example', 101],
    ['another scheme', 'http://game.example', 403],
    ['another case', 'https://Game.example', 403],
    ['a longer name', 'https://game.example.evil', 403],
    ['null', 'null', 403],
  ])('[R-WS-2] with allowed origins, %s', async (_name, Origin, status) => {
    realtime = await startRealtime({ websocket: { allowed_origins: ['https://game.example'] } })
    const raw = await realtime.connectRaw(upgradeRequest({ Origin }))
    expect(await raw.until('\r\n\r\n')).toContain(`HTTP/1.1 ${status} `)
    if (status === 403) expect((await refusal(raw)).body).toMatchObject({ code: 'forbidden' })
  })

  test('[R-WS-2] without allowed origins any origin is accepted', async () => {
    realtime = await startRealtime()
    const raw = await realtime.connectRaw(upgradeRequest({ Origin: 'https://anywhere.example' }))
    expect(await raw.until('\r\n\r\n')).toContain('101')
  })

  test.each([
    [['guildhall.0'], 'guildhall.0'],
    [['chat', 'guildhall.0'], 'guildhall.0'],
  ])('[R-WS-3] of the offers %j %s is selected', async (protocols, selected) => {
    realtime = await startRealtime()
    const client = await realtime.connect({ protocols })
    expect(client.socket.protocol).toBe(selected)
  })

  test('[R-WS-3] other offers are not selected', async () => {
    realtime = await startRealtime()
    const raw = await realtime.connectRaw(upgradeRequest({ 'Sec-WebSocket-Protocol': 'a, b' }))
    expect(await raw.until('\r\n\r\n')).not.toMatch(/protocol:/i)
  })

  test('[R-LIM-1] above the caps it is 429 with Retry-After and the usual headers', async () => {
    realtime = await startRealtime({
      limits: { max_connections_per_address: 1 },
      sourceOf: () => '2001:db8::1',
    })
    await realtime.connect()
    const raw = await realtime.connectRaw(upgradeRequest({ 'X-Request-Id': 'my-id' }))
    const { status, headers, body } = await refusal(raw)
    expect(status).toBe(429)
    expect(body).toEqual({ code: 'rate_limited', message: 'too many requests' })
    expect(headers).toMatchObject({
      'retry-after': '1',
      'x-request-id': 'my-id',
      'x-content-type-options': 'nosniff',
      'content-type': 'application/json',
      connection: 'close',
    })
    expect(realtime.gateway.metrics().connections_refused_total).toBe(1)
  })

  test('[R-LIM-1] a refused peer that keeps its side open does not keep the connection', async () => {
    realtime = await startRealtime({ limits: { max_pending_handshakes: 1 } })
    await realtime.connect()
    const socket = connectTcp({ port: realtime.port, host: '127.0.0.1', allowHalfOpen: true })
    const over = once(socket, 'error')
    socket.write(upgradeRequest())
    socket.resume()
    await once(socket, 'end')
    const knocking = setInterval(() => socket.write('x'), 20)
    await over
    clearInterval(knocking)
    socket.destroy()
  })

  test('[R-LIM-1] a connection that ended makes room for another', async () => {
    realtime = await startRealtime({
      limits: { max_connections_per_address: 1 },
      sourceOf: () => '203.0.113.7',
    })
    const first = await realtime.connect()
    first.socket.terminate()
    await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
    await realtime.connect()
  })

  test('[R-LIM-2] one more connection without a decision is 429', async () => {
    realtime = await startRealtime({ limits: { max_pending_handshakes: 1 } })
    const pending = await realtime.connect()
    expect((await refusal(await realtime.connectRaw())).status).toBe(429)
    pending.send(5)
    await pending.next()
    await realtime.connect()
  })

  test('[R-LIM-1] [R-LIM-2] the caps are the same, however the connections before ended', async () => {
    realtime = await startRealtime({
      limits: { max_pending_handshakes: 1, max_connections_per_address: 2 },
      sourceOf: () => '203.0.113.7',
    })
    const endings: ((client: TestClient) => void)[] = [
      (client) => client.end(),
      (client) => client.send(5, 't-unknown'),
      (client) => client.socket.send('text'),
      (client) => client.socket.close(),
      (client) => {
        client.send(5)
        client.socket.send('text')
      },
      (client) => client.send(5, 't-ann'),
      (client) => client.send(5, 't-ann'),
    ]
    const { metrics } = realtime.gateway
    for (const end of endings) {
      const client = await realtime.connect()
      end(client)
      if (client.socket.readyState === client.socket.OPEN) {
        await expect
          .poll(() => metrics().participants_active + client.received.length, waiting)
          .not.toBe(0)
        client.end()
      }
      await expect.poll(() => metrics().connections_active, waiting).toBe(0)
    }
    const first = await realtime.connect()
    expect((await refusal(await realtime.connectRaw())).status).toBe(429)
    first.send(5)
    await first.next()
    await realtime.connect()
    expect((await refusal(await realtime.connectRaw())).status).toBe(429)
    first.end()
    await expect.poll(() => metrics().connections_active, waiting).toBe(1)
    expect((await refusal(await realtime.connectRaw())).status).toBe(429)
  })
})

/** The answer to an upgrade that is refused, with a code that the route table knows of. */
async function refusal(raw: RawClient) {
  await raw.ended
  const [head = '', text = ''] = raw.received().toString().split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(lines.map((entry) => entry.split(': ')))
  const body: unknown = JSON.parse(text)
  const status = Number(line.split(' ')[1])
  const declared = ['invalid_request', ...realtimeApi.connect.errors] as const
  expect(declared.map((code) => errorTable[code].status)).toContain(status)
  return { status, headers, body }
}
