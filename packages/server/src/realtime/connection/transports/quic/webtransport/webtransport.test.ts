import { type Envelope, encodeFrame, FrameDecoder } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { bytesOf, textOf, waiting } from '../../../../realtime.fixture.ts'
import { type QuicFixture, type QuicFixtureOptions, startQuic } from '../quic.fixture.ts'
import type { QuicClient } from '../quic-client.fixture.ts'
import { readVarint } from '../varint.ts'
import { closeSession, frame, frameTypes } from './http3.ts'
import { bothWays, control, oneWay, request } from './webtransport-client.fixture.ts'

let node: QuicFixture
afterEach(() => node.close())

describe('the session', () => {
  test('[R-QU-6] settings offer extended CONNECT, datagrams and both drafts', async () => {
    const client = await started()
    await expect.poll(() => client.streams.get(3)?.length ?? 0, waiting).toBeGreaterThan(10)
    const control = client.streams.get(3) ?? Buffer.alloc(0)
    expect([...control.subarray(0, 2)]).toEqual([0, 4])
    const pairs: [number, number][] = []
    for (let at = 3; at < control.length; ) {
      const id = readVarint(control, at)
      const value = readVarint(control, id?.end)
      if (id === undefined || value === undefined) break
      pairs.push([id.value, value.value])
      at = value.end
    }
    expect(pairs).toContainEqual([0x08, 1])
    expect(pairs).toContainEqual([0x33, 1])
    expect(pairs).toContainEqual([0x2b603742, 1])
    expect(pairs).toContainEqual([0xc671706a, 1])
  })

  test.each([
    ['/v1/realtime', '200'],
    ['/', '200'],
    ['/v1/realtime?x=1', '200'],
    ['/v1/other', '404'],
  ])('[R-QU-6] a request for %s is answered %s', async (path, status) => {
    const client = await started()
    request(client, { path })
    expect(await statusOf(client)).toBe(status)
  })

  test('[R-QU-5] a request that comes before the control stream is one of HTTP/3', async () => {
    node = await startQuic({})
    const client = await node.connect({ alpn: ['h3'] })
    request(client, {})
    expect(await statusOf(client)).toBe('200')
    client.write(2, control)
    client.write(6, Uint8Array.from([...oneWay, ...encodeFrame(5, bytesOf('t-ann'))]))
    expect((await next(client)).kind).toBe(6)
  })

  test('[R-QU-6] another method or protocol is 404', async () => {
    const client = await started()
    client.write(0, frame(frameTypes.headers, [0, 0, 0xd1, 0xd7, 0xc1]), true)
    expect(await statusOf(client)).toBe('404')
    request(client, { protocol: 'websocket', stream: 4 })
    expect(await statusOf(client, 4)).toBe('404')
  })

  test('[R-QU-6] an origin that is not allowed is 403, one that is and none get in', async () => {
    const websocket = { allowed_origins: ['https://game.example'] }
    const client = await started({ websocket })
    request(client, { origin: 'https://other.example' })
    expect(await statusOf(client)).toBe('403')
    request(client, { origin: 'https://game.example', stream: 4 })
    expect(await statusOf(client, 4)).toBe('200')
    const native = await browser()
    request(native, {})
    expect(await statusOf(native)).toBe('200')
  })

  test('[R-QU-6] a second session on a connection is 429', async () => {
    const client = await started()
    request(client, {})
    expect(await statusOf(client)).toBe('200')
    request(client, { stream: 4 })
    expect(await statusOf(client, 4)).toBe('429')
  })

  test('[R-QU-7] broken headers cost their connection only', async () => {
    const client = await started()
    client.write(0, frame(frameTypes.headers, [0, 0, 0x80, 0x01]))
    expect((await client.closed()).code).toBe(0x10e)
    const other = await browser()
    request(other, {})
    expect(await statusOf(other)).toBe('200')
  })

  test('[R-QU-4] headers without end are refused', async () => {
    const client = await started()
    client.write(0, new Uint8Array([1, 0x80, 0x10, 0, 0]))
    expect((await client.closed()).code).toBe(0x107)
  })
})

describe('play', () => {
  test('[R-QU-5] the handshake may run on a stream of either direction', async () => {
    for (const [stream, begin] of [
      [6, oneWay],
      [4, bothWays],
    ] as const) {
      const client = await started()
      request(client, {})
      client.write(stream, Uint8Array.from([...begin, ...encodeFrame(5, bytesOf('t-ann'))]))
      expect((await next(client)).kind).toBe(6)
      await node.close()
    }
    await started()
  })

  test('[R-QU-5] bytes of a session that come before it wait for it', async () => {
    const client = await started()
    client.write(6, Uint8Array.from([...oneWay, ...encodeFrame(5, bytesOf('t-ann'))]))
    client.write(10, Uint8Array.from([...oneWay, ...encodeFrame(100, bytesOf('first'))]), true)
    request(client, {})
    expect((await next(client)).kind).toBe(6)
    await expect.poll(messages, waiting).toEqual(['first'])
  })

  test('[R-QU-1, R-QU-3] frames and datagrams travel in both directions', async () => {
    const client = await joined()
    client.write(10, oneWay.subarray(0, 1))
    client.write(10, oneWay.subarray(1))
    client.write(10, encodeFrame(100, bytesOf('in')))
    client.datagram(Uint8Array.from([0, ...encodeFrame(100, bytesOf('datagram')).subarray(4)]))
    client.datagram(Uint8Array.from([1, ...encodeFrame(100, bytesOf('foreign')).subarray(4)]))
    await expect.poll(messages, waiting).toHaveLength(2)
    expect(messages().sort()).toEqual(['datagram', 'in'])
    send('reliable')
    expect(textOf((await next(client)).body)).toBe('reliable')
    expect(node.realtime.transports.metrics()).toMatchObject({
      websocket_connections_active: 0,
      quic_connections_active: 1,
      webtransport_connections_active: 1,
    })
    send('quick', true)
    await expect.poll(() => client.datagrams.map(textOf), waiting).toEqual(['\0\0dquick'])
  })

  test('[R-QU-11] a close is a capsule behind everything that was sent', async () => {
    const client = await joined()
    for (let count = 0; count < 50; count += 1) send(`${count} ${'x'.repeat(2000)}`)
    node.realtime.gateway.closeSessions(['s-ann'])
    await expect.poll(() => client.endedStreams.has(0), waiting).toBe(true)
    const capsule = closeSession(4004, 'session revoked')
    const session = client.streams.get(0) ?? Buffer.alloc(0)
    expect(session.subarray(-capsule.length)).toEqual(Buffer.from(capsule))
    expect(envelopes(client)).toHaveLength(51)
    expect((await client.closed()).code).toBe(0x100)
  })

  test('[R-RET-1] a peer whose capsule has code 0 leaves, and one that is gone keeps its seat', async () => {
    const rooms = { reconnect_grace_ms: 10_000 }
    const client = await joined({ rooms })
    client.write(0, closeSession(0, ''), true)
    await expect.poll(() => node.realtime.gateway.metrics().connections_active, waiting).toBe(0)
    expect(node.realtime.gateway.metrics().dropped_seats_active).toBe(0)
    expect(node.realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
    const other = await browser()
    await join(other, 't-bob')
    other.write(6, encodeFrame(21, new Uint8Array([0, 0])))
    await expect.poll(() => node.realtime.gateway.metrics().rooms_active, waiting).toBe(1)
    // A page that is reloaded ends the connection, and not its session.
    other.close(0)
    await expect.poll(() => node.realtime.gateway.metrics().connections_active, waiting).toBe(0)
    expect(node.realtime.gateway.metrics().dropped_seats_active).toBe(1)
  })
})

test('[R-TR-1, R-FR-1] with WebTransport off a browser is sent away, and raw QUIC serves', async () => {
  node = await startQuic({ webtransport: false })
  expect(node.realtime.transports.states().webtransport).toMatchObject({
    enabled: false,
    available: false,
  })
  const client = await node.connect({ alpn: ['h3'] })
  client.write(2, control)
  expect((await client.closed()).code).toBe(0x100)
  expect((await node.join('t-ann')).established).toBe(true)
  const broken = await node.connect()
  broken.write(0, Uint8Array.of(1, 0, 0, 0))
  expect(await broken.closed()).toEqual({ code: 4003, reason: 'protocol error: frame length' })
})

async function started(options: QuicFixtureOptions = {}): Promise<QuicClient> {
  node = await startQuic(options)
  node.realtime.script.kinds.add(100)
  return browser()
}

/** A client that speaks HTTP/3, with its control stream open. */
async function browser(): Promise<QuicClient> {
  const client = await node.connect({ alpn: ['h3'] })
  client.write(2, control)
  return client
}

async function joined(options: QuicFixtureOptions = {}): Promise<QuicClient> {
  const client = await started(options)
  await join(client, 't-ann')
  return client
}

async function join(client: QuicClient, token: string): Promise<void> {
  request(client, {})
  client.write(6, Uint8Array.from([...oneWay, ...encodeFrame(5, bytesOf(token))]))
  expect((await next(client)).kind).toBe(6)
}

async function statusOf(client: QuicClient, stream = 0): Promise<string | undefined> {
  await expect.poll(() => client.streams.get(stream)?.length ?? 0, waiting).toBeGreaterThan(0)
  return /\d{3}/.exec(client.streams.get(stream)?.toString('latin1') ?? '')?.[0]
}

/** Everything that came on the node's stream of the session. */
function envelopes(client: QuicClient): Envelope[] {
  const bytes = client.streams.get(7) ?? Buffer.alloc(0)
  const decoder = new FrameDecoder(1 << 24)
  decoder.push(Uint8Array.from(bytes.subarray(oneWay.length)))
  const all: Envelope[] = []
  for (let each = decoder.next(); each; each = decoder.next()) all.push(each)
  return all
}

const looked = new WeakMap<QuicClient, number>()

async function next(client: QuicClient): Promise<Envelope> {
  const at = looked.get(client) ?? 0
  await expect.poll(() => envelopes(client).length, waiting).toBeGreaterThan(at)
  looked.set(client, at + 1)
  const envelope = envelopes(client)[at]
  if (envelope === undefined) throw new Error('no envelope')
  return envelope
}

function send(text: string, unreliable = false): void {
  const body = bytesOf(text)
  node.realtime.gateway.send({ kind: 100, body, unreliable, participants: [1] })
}

function messages(): string[] {
  const { calls } = node.realtime.script
  return calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
}
