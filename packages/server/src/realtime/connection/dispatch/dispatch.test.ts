import {
  kinds,
  noticeBody,
  rpcRequestBody,
  rpcResponseBody,
  sessionInfoBody,
  sessionOptionsBody,
} from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import {
  bytesOf,
  hexOf,
  nextPosition,
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const optIn = sessionOptionsBody.encode({ flags: 4 })

describe('kinds of the service', () => {
  test('[R-KND-1] reserved and free kinds are ignored, counted and noticed', async () => {
    realtime = await startRealtime()
    const client = await joinWithNotices()
    const ignored = [0, 7, 12, 13, 16, 20, 29, 31, 40, 43, 49, 99]
    for (const kind of ignored.slice(0, 10)) client.send(kind)
    for (const kind of ignored.slice(0, 10)) {
      expect(await notice(client)).toEqual({ code: 2, kind, text: 'reserved kind' })
    }
    for (const kind of ignored.slice(10)) client.send(kind)
    await expectCounter('reserved_kind_ignored_total', ignored.length)
    expect(realtime.script.hooks()).toEqual(['join 1'])
  })

  test('[R-KND-2] server kinds from a client are ignored, counted and noticed', async () => {
    realtime = await startRealtime()
    const client = await joinWithNotices()
    const fromServer = [2, 4, 6, 23, 26, 27, 28, 32, 33, 34, 37, 38, 45, 46, 47]
    for (const kind of fromServer) client.send(kind, 'x')
    expect(await notice(client)).toMatchObject({ code: 4, kind: 2 })
    await expectCounter('wrong_direction_ignored_total', fromServer.length)
  })

  test('[R-KND-4] a client without options is sent no kind above 43', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    client.send(7)
    client.send(150)
    await expectCounter('unhandled_kind_total', 1)
    expect(client.received).toEqual([])
  })

  test('[R-KND-6] options are answered with the flags in force and who the client is', async () => {
    realtime = await startRealtime()
    const client = await realtime.join('t-ann')
    client.send(44, sessionOptionsBody.encode({ flags: 0xffffffff }))
    const info = await client.next()
    expect(info.kind).toBe(45)
    expect(sessionInfoBody.decode(info.body)).toEqual({
      flags: 111,
      participant: 1,
      room_id: null,
      max_envelope_bytes: 65_536,
      last_close: null,
    })
    // Bit 1 was set, so that the server's time follows.
    expect((await client.next()).kind).toBe(34)
    client.send(44, sessionOptionsBody.encode({ flags: 0 }))
    expect(sessionInfoBody.decode((await client.next()).body).flags).toBe(0)
  })

  test('[R-KND-5] options that are short or of another version are ignored', async () => {
    realtime = await startRealtime()
    const client = await joinWithNotices()
    client.send(44, new Uint8Array([1, 0, 0, 0]))
    client.send(44, new Uint8Array([2, 0, 0, 0, 0]))
    expect(await notice(client)).toMatchObject({ code: 3, kind: 44 })
    expect(await notice(client)).toMatchObject({ code: 3, kind: 44 })
    client.send(7)
    expect(await notice(client)).toMatchObject({ code: 2 })
  })

  test('[R-KND-8] there are at most 10 notices per second and connection', async () => {
    realtime = await startRealtime()
    const client = await joinWithNotices()
    for (let count = 0; count < 25; count += 1) client.send(7)
    await expectCounter('reserved_kind_ignored_total', 25)
    await realtime.clock.advance(1000)
    client.send(8)
    await expect.poll(() => client.received.length, waiting).toBe(11)
  })
})

describe('application kinds', () => {
  test('[R-DSP-1] a kind with a handler reaches the script with its sender', async () => {
    realtime = await startRealtime()
    realtime.script.kinds.add(65535)
    const client = await realtime.join('t-ann')
    client.send(65535, 'hi')
    await expect
      .poll(() => realtime.script.calls.at(-1), waiting)
      .toMatchObject({
        hook: 'message',
        kind: 65535,
        unreliable: false,
        context: {
          participant: 1,
          user_id: 'u-ann',
          username: 'ann',
          room_id: null,
          match_id: null,
        },
      })
  })

  test.each([
    ['no handler', true, { code: 1, text: 'no handler' }],
    ['no script', false, { code: 5, text: 'game script unavailable' }],
  ])('[R-DSP-1] with %s it is counted and noticed', async (_name, serving, expected) => {
    realtime = await startRealtime()
    realtime.script.isServing = serving
    const client = await joinWithNotices()
    client.send(150, 'x')
    expect(await notice(client)).toEqual({ ...expected, kind: 150 })
    await expectCounter('unhandled_kind_total', 1)
  })

  test.each([
    ['failed', 6],
    ['unavailable', 5],
  ] as const)('[R-KND-8] a handler that %s is notice %i', async (outcome, code) => {
    realtime = await startRealtime()
    realtime.script.kinds.add(100)
    realtime.script.outcome = outcome
    const client = await joinWithNotices()
    client.send(100)
    expect(await notice(client)).toMatchObject({ code, kind: 100 })
  })

  test('[R-LIM-6] reading stops while the inbox is full and nothing is lost', async () => {
    realtime = await startRealtime()
    realtime.script.kinds.add(100)
    const client = await realtime.join()
    realtime.script.isCongested = true
    for (let index = 0; index < 50; index += 1) client.send(100, String(index))
    client.send(44, optIn)
    await expect.poll(() => realtime.gateway.metrics().bytes_in_total, waiting).toBeGreaterThan(12)
    await realtime.clock.advance(0)
    expect(realtime.script.hooks()).toEqual(['join 1'])
    realtime.script.drain()
    expect((await client.next()).kind).toBe(kinds.SESSION_INFO.first)
    const bodies = () =>
      realtime.script.calls.flatMap((call) => (call.hook === 'message' ? [textOf(call.body)] : []))
    const sent = Array.from({ length: 50 }, (_, index) => String(index))
    await expect.poll(bodies, waiting).toEqual(sent)
  })
})

describe('what scripts send', () => {
  test('broadcast reaches everybody but the sender and the excluded', async () => {
    realtime = await startRealtime()
    const clients = []
    for (let count = 0; count < 4; count += 1) clients.push(await realtime.join())
    const command = { kind: 100, body: bytesOf('x'), unreliable: false, sender: 1, except: [3] }
    realtime.gateway.broadcast({ ...command, room_id: null })
    realtime.gateway.broadcast({ ...command, sender: 0, except: [], room_id: 7 })
    const last = { kind: 101, body: bytesOf(''), unreliable: true }
    realtime.gateway.send({ ...last, participants: [1, 2, 3, 4, 999] })
    for (const client of clients) {
      await expect.poll(() => client.received.at(-1)?.kind, waiting).toBe(101)
    }
    expect(clients.map(({ received }) => received.map(({ kind }) => kind))).toEqual([
      [101],
      [100, 101],
      [101],
      [100, 101],
    ])
  })

  test('the body may be reused as soon as the call returns', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    const body = bytesOf('one')
    realtime.gateway.send({ kind: 100, body, unreliable: false, participants: [1] })
    body.fill(0)
    expect(textOf((await client.next()).body)).toBe('one')
  })
})

describe('positions', () => {
  test('[R-DSP-2] a position goes to the other roomless participants as kind 2', async () => {
    realtime = await startRealtime()
    const [ann, bob] = [await realtime.join('t-ann'), await realtime.join()]
    ann.send(1, Buffer.from('0000fa4200008042', 'hex'))
    const { kind, body } = await nextPosition(realtime, bob)
    expect([kind, hexOf(body)]).toEqual([2, '00000000000000010000fa4200008042'])
    expect(ann.received).toEqual([])
  })

  test('[R-WS-6] positions wait up to 2 ms for others and share a message', async () => {
    realtime = await startRealtime()
    const [ann, bob, cid] = [await realtime.join(), await realtime.join(), await realtime.join()]
    const options = sessionOptionsBody.encode({ flags: 0 })
    const dispatched = async (client: TestClient) => {
      client.send(kinds.SESSION_OPTIONS.first, options)
      await client.next()
    }
    const before = cid.messageBytes.length
    ann.send(1, 'a')
    await dispatched(ann)
    bob.send(1, 'b')
    await dispatched(bob)
    expect(cid.received).toEqual([])
    await realtime.clock.advance(2)
    await cid.next()
    expect(cid.messageBytes.slice(before)).toEqual([30])
    ann.send(1, 'a')
    await dispatched(ann)
    expect(bob.received.map(({ kind }) => kind)).toEqual([kinds.PEER_POSITION.first])
  })

  test('[R-DSP-2] a script that handles kind 1 gets it instead', async () => {
    realtime = await startRealtime()
    realtime.script.kinds.add(1)
    const [ann, bob] = [await realtime.join('t-ann'), await realtime.join()]
    ann.send(1, 'x')
    await expect.poll(() => realtime.script.hooks(), waiting).toContain('message 1')
    expect(bob.received).toEqual([])
  })

  test('[R-DSP-2] an empty or oversized position is ignored with a notice', async () => {
    realtime = await startRealtime()
    const bob = await realtime.join()
    const ann = await joinWithNotices()
    ann.send(1)
    ann.send(1, new Uint8Array(1025))
    ann.send(1, new Uint8Array(1024))
    expect(await notice(ann)).toMatchObject({ code: 3, kind: 1 })
    expect(await notice(ann)).toMatchObject({ code: 3, kind: 1 })
    expect((await nextPosition(realtime, bob)).body).toHaveLength(1032)
  })

  test('[R-DSP-2] among more than 256 others it is counted as unhandled', async () => {
    realtime = await startRealtime()
    const [ann, bob] = [await joinWithNotices(), await realtime.join()]
    for (let count = 0; count < 255; count += 1) await realtime.join()
    ann.send(1, 'x')
    expect((await nextPosition(realtime, bob)).kind).toBe(2)
    expect(realtime.gateway.metrics().unhandled_kind_total).toBe(0)
    await realtime.join()
    ann.send(1, 'y')
    expect(await notice(ann)).toMatchObject({ code: 1, kind: 1 })
    await expectCounter('unhandled_kind_total', 1)
    expect(bob.received).toEqual([])
  })
})

describe('RPC', () => {
  test.each([0n, 1n, 2n ** 64n - 1n])('[R-RPC-1] request id %s survives', async (request_id) => {
    realtime = await startRealtime()
    const client = await realtime.join()
    client.send(3, rpcRequestBody.encode({ request_id, method: 'echo', payload: bytesOf('hi') }))
    const { kind, body } = await client.next()
    expect(kind).toBe(4)
    expect(rpcResponseBody.decode(body)).toMatchObject({ request_id, ok: true })
  })

  test('[R-RPC-2] a request without id is a protocol error', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    client.send(3, new Uint8Array(7))
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: rpc header' })
  })

  test.each([
    ['no method', '0000000000000005', 'malformed request'],
    ['a method that is cut off', '0000000000000005 0004 70', 'malformed request'],
    ['a method of invalid UTF-8', '0000000000000005 0001 ff', 'malformed request'],
    ['a method of 129 bytes', `0000000000000005 0081 ${'61'.repeat(129)}`, 'malformed request'],
    ['a matchmaker method', rpcHex('matchmaker.none'), 'unknown RPC method'],
    ['a party method', rpcHex('party.none'), 'unknown RPC method'],
  ])('[R-RPC-4] %s is answered', async (_name, hex, expected) => {
    realtime = await startRealtime()
    const client = await realtime.join()
    client.send(3, Buffer.from(hex.replaceAll(' ', ''), 'hex'))
    expect(await rpcAnswer(client)).toEqual([5n, false, expected])
    expect(realtime.script.hooks()).toEqual(['join 1'])
  })

  test('[R-RPC-4] an error, a failure and a reply above 64 KiB are answered with status 1', async () => {
    realtime = await startRealtime()
    const client = await realtime.join()
    const outcomes = [
      async () => ({ ok: false as const, error: 'out of luck' }),
      () => Promise.reject(new Error('a bug')),
      async () => ({ ok: true as const, reply: new Uint8Array(65_537) }),
    ]
    const seen = []
    for (const outcome of outcomes) {
      realtime.script.onRpc = outcome
      client.send(3, rpcRequestBody.encode(request(7n)))
      seen.push(await rpcAnswer(client))
    }
    expect(seen).toEqual([
      [7n, false, 'out of luck'],
      [7n, false, 'RPC handler error'],
      [7n, false, 'RPC reply too large'],
    ])
  })

  test('[R-LIM-4] one more open RPC than allowed is answered at once', async () => {
    realtime = await startRealtime({ limits: { rpc_in_flight: 2 } })
    const open: (() => void)[] = []
    realtime.script.onRpc = () =>
      new Promise((resolve) => open.push(() => resolve({ ok: true, reply: bytesOf('done') })))
    const client = await realtime.join()
    for (const id of [1n, 2n, 3n]) client.send(3, rpcRequestBody.encode(request(id)))
    expect(await rpcAnswer(client)).toEqual([3n, false, 'too many requests'])
    for (const settle of open) settle()
    expect(await rpcAnswer(client)).toEqual([1n, true, 'done'])
    expect(await rpcAnswer(client)).toEqual([2n, true, 'done'])
    client.send(3, rpcRequestBody.encode(request(4n)))
    await expect.poll(() => open.length, waiting).toBe(3)
  })

  test('[R-RPC-5] what a handler sends is queued before its response', async () => {
    realtime = await startRealtime()
    realtime.script.onRpc = async ({ participant }) => {
      const command = { kind: 100, body: bytesOf(''), unreliable: false }
      realtime.gateway.send({ ...command, participants: [participant] })
      return { ok: true, reply: bytesOf('') }
    }
    const client = await realtime.join()
    client.send(3, rpcRequestBody.encode(request(1n)))
    expect((await client.next()).kind).toBe(100)
    expect((await client.next()).kind).toBe(4)
  })

  test('[R-RPC-1] a response for a connection that is gone goes nowhere', async () => {
    realtime = await startRealtime()
    let settle = () => {}
    realtime.script.onRpc = () =>
      new Promise((resolve) => {
        settle = () => resolve({ ok: true, reply: bytesOf('late') })
      })
    const client = await realtime.join('t-ann')
    client.send(3, rpcRequestBody.encode(request(1n)))
    await expect.poll(() => realtime.script.hooks().at(-1), waiting).toBe('rpc 1')
    client.close()
    await client.closed
    settle()
    const other = await realtime.join()
    expect(other.received).toEqual([])
  })
})

function request(request_id: bigint) {
  return { request_id, method: 'x', payload: new Uint8Array() }
}

function rpcHex(method: string): string {
  return hexOf(rpcRequestBody.encode({ ...request(5n), method }))
}

async function rpcAnswer(client: TestClient): Promise<[bigint, boolean, string]> {
  const { request_id, ok, payload } = rpcResponseBody.decode((await client.next()).body)
  return [request_id, ok, textOf(payload)]
}

async function joinWithNotices(): Promise<TestClient> {
  const client = await realtime.join()
  client.send(44, optIn)
  await client.next()
  return client
}

async function notice(client: TestClient) {
  const { kind, body } = await client.next()
  expect(kind).toBe(kinds.NOTICE.first)
  return noticeBody.decode(body)
}

async function expectCounter(name: string, value: number): Promise<void> {
  await expect
    .poll(() => Object.entries(realtime.gateway.metrics()), waiting)
    .toContainEqual([name, value])
}
