import { encodeFrame } from '@guildhall/contract'
import { afterEach, describe, expect, test } from 'vitest'
import type { Player } from '../../ports.ts'
import {
  bytesOf,
  hexOf,
  type RealtimeFixture,
  startRealtime,
  type TestClient,
  textOf,
  waiting,
} from '../../realtime.fixture.ts'

let realtime: RealtimeFixture
afterEach(() => realtime.close())

const policies = {
  'require false, guests true': { require_auth: false, allow_guests: true },
  'require false, guests false': { require_auth: false, allow_guests: false },
  'require true': { require_auth: true, allow_guests: true },
  'require true, guests not looked at': { require_auth: true, allow_guests: false },
}

type Cell = { result: string | undefined; close: { code: number; reason: string } | undefined }

const account = { result: `00${Buffer.from('u-ann').toString('hex')}`, close: undefined }
const guest = { result: '01', close: undefined }
const failed = { result: '0200', close: { code: 4001, reason: 'auth rejected' } }
const required = { result: '0201', close: { code: 4001, reason: 'auth rejected' } }
const violation = (detail: string) => ({
  result: '0202',
  close: { code: 4003, reason: `protocol error: ${detail}` },
})
const silent = { result: undefined, close: { code: 4002, reason: 'auth timeout' } }

const badFrames: Record<string, (client: TestClient) => void> = {
  'an unknown token': (client) => client.send(5, 'gh.access.nobody'),
  'a token of 4,097 bytes': (client) => client.send(5, 'x'.repeat(4097)),
  'a token of invalid UTF-8': (client) => client.send(5, new Uint8Array([0x74, 0xff, 0xfe])),
}

/** First frame, what is sent, and the cells for the four policies. */
const rows: [string, (client: TestClient) => void, Cell[]][] = [
  ['a valid token', (client) => client.send(5, 't-ann'), [account, account, account, account]],
  ...Object.entries(badFrames).map(([name, send]): (typeof rows)[number] => [
    name,
    send,
    [failed, failed, failed, failed],
  ]),
  ['an empty AUTH', (client) => client.send(5), [guest, required, required, required]],
  [
    'another kind',
    (client) => client.send(100, 'x'),
    [guest, required, violation('handshake'), violation('handshake')],
  ],
  [
    'a frame with a bad length',
    (client) => client.sendBytes(new Uint8Array([0, 0, 0, 1])),
    new Array(4).fill(violation('frame length')),
  ],
  [
    'a text message',
    (client) => client.socket.send('hello'),
    new Array(4).fill(violation('text message')),
  ],
  [
    'nothing within the timeout',
    () => void realtime.clock.advance(5000),
    [silent, silent, silent, silent],
  ],
]

describe.each(rows)('[R-HS-3] %s', (_name, send, cells) => {
  test.each(Object.entries(policies))('with %s', async (name, auth) => {
    realtime = await startRealtime({ auth })
    const expected = cells[Object.keys(policies).indexOf(name)]
    const client = await realtime.connect()
    send(client)
    if (expected?.result !== undefined) {
      const { kind, body } = await client.next()
      expect([kind, hexOf(body)]).toEqual([6, expected.result])
    }
    if (expected?.close) {
      expect(await client.closed).toEqual(expected.close)
      expect(client.received).toEqual([])
      expect(realtime.script.calls).toEqual([])
      expect(realtime.gateway.metrics().participants_active).toBe(0)
    } else {
      await expect.poll(() => realtime.script.hooks()[0], waiting).toBe('join 1')
    }
  })
})

test('[R-HS-1] the timeout runs from the accepted upgrade and ends with the first frame', async () => {
  realtime = await startRealtime({ auth: { handshake_timeout_ms: 1000 } })
  const late = await realtime.connect()
  await realtime.clock.advance(999)
  const early = await realtime.join()
  await realtime.clock.advance(1)
  expect(await late.closed).toEqual({ code: 4002, reason: 'auth timeout' })
  await realtime.clock.advance(10_000)
  expect(early.isOpen()).toBe(true)
  expect(realtime.gateway.metrics().handshake_timeouts_total).toBe(1)
})

test('[R-HS-1] a token that is being verified does not run into the timeout', async () => {
  realtime = await startRealtime()
  const answer = holdVerification()
  const client = await realtime.connect()
  client.send(5, 't-ann')
  await expect.poll(() => answer.asked, waiting).toBe(1)
  await realtime.clock.advance(60_000)
  answer.give(realtime.backend.players.get('t-ann'))
  expect(hexOf((await client.next()).body)).toBe(account.result)
})

test('[R-HS-2] nothing is registered before the result, and queued frames come after it', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const answer = holdVerification()
  const client = await realtime.connect()
  client.send(5, 't-ann')
  client.send(100, 'one')
  client.send(100, 'two')
  await expect.poll(() => realtime.gateway.metrics().bytes_in_total, waiting).toBeGreaterThan(25)
  expect(realtime.script.calls).toEqual([])
  expect(await realtime.gateway.sessions()).toEqual([])
  answer.give(realtime.backend.players.get('t-ann'))
  await expect
    .poll(() => realtime.script.hooks(), waiting)
    .toEqual(['join 1', 'message 1', 'message 1'])
  expect(hexOf((await client.next()).body)).toBe(account.result)
})

test('[R-HS-2] reading pauses behind 256 KiB of waiting frames and loses none of them', async () => {
  realtime = await startRealtime({ limits: { inbound_bytes_per_sec: 0 } })
  realtime.script.kinds.add(100)
  const answer = holdVerification()
  const client = await realtime.connect()
  client.send(5, 't-ann')
  // Few enough that their number alone would pause nothing.
  for (let index = 0; index < 60; index += 1) client.send(100, `${index} ${'x'.repeat(30_000)}`)
  await expect
    .poll(() => realtime.gateway.metrics().bytes_in_total, waiting)
    .toBeGreaterThan(262_144)
  for (let turn = 0; turn < 50; turn += 1) await realtime.clock.advance(0)
  expect(realtime.gateway.metrics().bytes_in_total).toBeLessThan(400_000)
  answer.give(realtime.backend.players.get('t-ann'))
  await expect.poll(() => realtime.script.calls.length, waiting).toBe(61)
  const numbers = realtime.script.calls.flatMap((call) =>
    call.hook === 'message' ? [Number.parseInt(textOf(call.body), 10)] : [],
  )
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, index) => index))
})

test('[R-HS-2] reading pauses behind 64 waiting frames and not before', async () => {
  realtime = await startRealtime()
  realtime.script.kinds.add(100)
  const answer = holdVerification()
  const bystander = await realtime.join()
  const client = await realtime.connect()
  const bytesIn = () => realtime.gateway.metrics().bytes_in_total
  client.send(5, 't-ann')
  for (let index = 0; index < 63; index += 1) client.send(100)
  const before = 6 + 11 + 63 * 6
  await expect.poll(bytesIn, waiting).toBe(before)
  client.send(100)
  await expect.poll(bytesIn, waiting).toBe(before + 6)
  client.send(100)
  // What came later over another connection is there, and the one behind the 64 is not.
  for (let count = 1; count <= 20; count += 1) {
    bystander.send(44, new Uint8Array([1, 0, 0, 0, 0]))
    await bystander.next()
  }
  expect(bytesIn()).toBe(before + 6 + 20 * 11)
  answer.give(realtime.backend.players.get('t-ann'))
  await expect.poll(() => realtime.script.hooks().length, waiting).toBe(1 + 1 + 65)
})

test('[R-HS-2] a connection that is gone before its token was verified is never registered', async () => {
  realtime = await startRealtime()
  const answer = holdVerification()
  const client = await realtime.connect()
  client.send(5, 't-ann')
  await expect.poll(() => answer.asked, waiting).toBe(1)
  client.end()
  await expect.poll(() => realtime.gateway.metrics().connections_active, waiting).toBe(0)
  realtime.backend.verify = async (token) => realtime.backend.players.get(token)
  const other = await realtime.join('t-ann')
  answer.give(realtime.backend.players.get('t-ann'))
  await realtime.clock.advance(0)
  expect(realtime.script.hooks()).toEqual(['join 1'])
  expect(other.isOpen()).toBe(true)
})

test('[R-HS-3] [R-SES-1] two connections of a session in one turn both get their result', async () => {
  realtime = await startRealtime()
  const answer = holdVerification()
  const clients = [await realtime.connect(), await realtime.connect()]
  for (const client of clients) client.send(5, 't-ann')
  await expect.poll(() => answer.asked, waiting).toBe(2)
  answer.give(realtime.backend.players.get('t-ann'))
  answer.give(realtime.backend.players.get('t-ann'))
  for (const client of clients) expect(hexOf((await client.next()).body)).toBe(account.result)
  expect((await Promise.race(clients.map(({ closed }) => closed))).code).toBe(4005)
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1', 'join 2'])
})

test('[R-HS-3] a bad frame behind AUTH does not change the result of AUTH', async () => {
  realtime = await startRealtime()
  for (const [token, result] of [
    ['', '01'],
    ['t-ann', account.result],
  ] as const) {
    const client = await realtime.connect()
    const auth = encodeFrame(5, bytesOf(token))
    client.sendBytes(Buffer.concat([auth, Buffer.from('00000000', 'hex')]))
    expect(hexOf((await client.next()).body)).toBe(result)
    expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: frame length' })
  }
})

test('[R-HS-3] a guest by another kind gets the result before the answer to its frame', async () => {
  realtime = await startRealtime()
  const client = await realtime.connect()
  client.send(3, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 120]))
  expect((await client.next()).kind).toBe(6)
  expect((await client.next()).kind).toBe(4)
})

test('[R-HS-4] a failing backend, a dead session and an unknown token are the same', async () => {
  realtime = await startRealtime()
  const answers: (() => Promise<Player | undefined>)[] = [
    () => Promise.resolve(undefined),
    () => Promise.reject(new Error('the database is down')),
  ]
  const seen = new Set<string>()
  for (const answer of answers) {
    realtime.backend.verify = answer
    const client = await realtime.connect()
    client.send(5, 't-ann')
    const { body } = await client.next()
    seen.add(JSON.stringify([hexOf(body), await client.closed, client.received]))
  }
  expect([...seen]).toEqual([JSON.stringify(['0200', failed.close, []])])
  expect(realtime.gateway.metrics().handshake_rejected_total).toBe(2)
})

test('[R-HS-4] a body that cannot be a token is refused whatever the backend says', async () => {
  realtime = await startRealtime()
  realtime.backend.verify = async () => realtime.backend.players.get('t-ann')
  for (const body of ['x'.repeat(4097), new Uint8Array([0x74, 0xff])]) {
    const client = await realtime.connect()
    client.send(5, body)
    expect(hexOf((await client.next()).body)).toBe('0200')
    expect(await client.closed).toEqual(failed.close)
  }
})

test('[R-HS-4] a token of exactly 4,096 bytes is looked up', async () => {
  realtime = await startRealtime()
  const token = 'x'.repeat(4096)
  realtime.backend.verify = async (asked) =>
    asked === token ? realtime.backend.players.get('t-bob') : undefined
  const client = await realtime.connect()
  client.send(5, token)
  expect(textOf((await client.next()).body)).toBe('\0u-bob')
})

test('[R-HS-5] a second AUTH is a protocol error with a result of its own', async () => {
  realtime = await startRealtime()
  const client = await realtime.join('t-ann')
  client.send(5, 't-ann')
  expect(hexOf((await client.next()).body)).toBe('0202')
  expect(await client.closed).toEqual({ code: 4003, reason: 'protocol error: repeated auth' })
  expect(realtime.script.hooks()).toEqual(['join 1', 'leave 1'])
})

test('[R-HS-6] options queued behind AUTH are answered first, then on_join, then the rest', async () => {
  realtime = await startRealtime()
  realtime.script.join = (context, settled) => {
    welcome(context.participant)
    settled()
  }
  const client = await realtime.connect()
  const rpc = encodeFrame(3, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 120]))
  const options = encodeFrame(44, new Uint8Array([1, 0, 0, 0, 5]))
  client.sendBytes(Buffer.concat([encodeFrame(5, bytesOf('t-ann')), rpc, options]))
  const kinds = []
  for (let count = 0; count < 4; count += 1) kinds.push((await client.next()).kind)
  expect(kinds).toEqual([6, 45, 200, 4])
})

describe.each(['', 't-ann'])('[R-HS-6] what is queued behind the token "%s"', (token) => {
  const options = encodeFrame(44, new Uint8Array([1, 0, 0, 0, 5]))
  const createRoom = encodeFrame(21, new Uint8Array())
  const unhandled = encodeFrame(150, bytesOf('x'))

  test('is answered by the gateway itself only behind what a slow on_join sends', async () => {
    realtime = await startRealtime()
    const joins = holdJoins()
    const client = await realtime.connect()
    // As one message, and with more of the same behind it.
    client.sendBytes(
      Buffer.concat([encodeFrame(5, bytesOf(token)), createRoom, options, unhandled]),
    )
    client.sendBytes(Buffer.concat([unhandled, createRoom]))
    await expect.poll(() => joins.length, waiting).toBe(1)
    client.sendBytes(createRoom)
    await realtime.clock.advance(46_000)
    expect(kindsOf(client)).toEqual([6, 45])
    joins[0]?.()
    const answered = [6, 45, 200, ...roomsAndNotices]
    await expect.poll(() => kindsOf(client), waiting).toEqual(answered)
    client.send(21)
    await expect.poll(() => kindsOf(client), waiting).toEqual([...answered, 33])
  })

  test('is dropped when the connection ends before on_join does', async () => {
    realtime = await startRealtime()
    const joins = holdJoins()
    const client = await realtime.connect()
    client.sendBytes(Buffer.concat([encodeFrame(5, bytesOf(token)), createRoom]))
    await expect.poll(() => joins.length, waiting).toBe(1)
    client.end()
    await expect.poll(() => realtime.script.hooks(), waiting).toEqual(['leave 1'])
    joins[0]?.()
    const next = await realtime.connect()
    next.send(5, token)
    await expect.poll(() => joins.length, waiting).toBe(2)
    joins[1]?.()
    await expect.poll(() => kindsOf(next), waiting).toEqual([6, 200])
  })
})

/** Two refused rooms and two notices, as they were sent, and one more room. */
const roomsAndNotices = [33, 47, 47, 33, 33]

const kindsOf = (client: TestClient) => client.received.map(({ kind }) => kind)

/** Keeps each on_join until the test lets it welcome its player and end. */
function holdJoins(): (() => void)[] {
  const held: (() => void)[] = []
  realtime.script.join = ({ participant }, settled) => {
    held.push(() => {
      welcome(participant)
      settled()
    })
  }
  return held
}

function welcome(participant: number): void {
  const body = bytesOf('welcome')
  realtime.gateway.send({ kind: 200, body, unreliable: false, participants: [participant] })
}

function holdVerification() {
  const held: ((player: Player | undefined) => void)[] = []
  realtime.backend.verify = () => new Promise((resolve) => held.push(resolve))
  return {
    get asked() {
      return held.length
    },
    give: (player: Player | undefined) => held.shift()?.(player),
  }
}
