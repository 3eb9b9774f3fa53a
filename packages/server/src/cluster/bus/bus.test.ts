import { spawn, spawnSync } from 'node:child_process'
import { connect as connectTo, createServer } from 'node:net'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { createSystemClock } from '../../kernel/clock.ts'
import type { Bus } from '../../kernel/cluster/bus.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { createMemoryNetwork } from './memory-bus.ts'
import { createNatsBus } from './nats-bus.ts'
import { startNatsServer } from './nats-server.fixture.ts'
import { createPostgresBus } from './postgres-bus.ts'

type Connect = (boot: string, clusterId?: string) => Bus
type Kind = { name: string; open(): Promise<Connect>; skip?: string }

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

let invalid = 0
const clock = createSystemClock()
const senderOf = (boot: string) => Buffer.from(boot.padEnd(8, '.')).subarray(0, 8)

async function openPostgres(): Promise<TestDatabase> {
  const backend = testBackends.find(({ name }) => name === 'postgres')
  if (backend === undefined) throw new Error('there is no PostgreSQL')
  const database = await backend.open()
  closers.push(() => database.dispose())
  return database
}

function postgresBus(url: string): Connect {
  return (bootId, clusterId = 'test') =>
    createPostgresBus({
      ...{ url, clusterId, bootId, clock, log: createRecordedLog() },
      sender: senderOf(bootId),
      invalid: () => {
        invalid += 1
      },
    })
}

async function openFakeNats() {
  const server = await startNatsServer()
  closers.push(server.close)
  return server
}

async function openNats(): Promise<Connect> {
  return natsBus(`nats://127.0.0.1:${await startRealNats()}`)
}

async function startRealNats(): Promise<number> {
  const port = await freePort()
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  closers.push(async () => server.kill())
  await expect.poll(() => canConnect(port)).toBe(true)
  return port
}

function natsBus(url: string): Connect {
  return (bootId, clusterId = 'test') =>
    createNatsBus({
      ...{ url, credentialsFile: undefined, clusterId, bootId },
      log: createRecordedLog(),
      sender: senderOf(bootId),
      invalid: () => {
        invalid += 1
      },
    })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const hasNats = spawnSync('nats-server', ['--version']).status === 0

const kinds: Kind[] = [
  {
    name: 'in memory',
    async open() {
      const network = createMemoryNetwork()
      return (boot) => network.connect(boot)
    },
  },
  { name: 'over PostgreSQL', open: async () => postgresBus((await openPostgres()).url) },
  {
    name: 'over the protocol of NATS',
    open: async () => natsBus((await openFakeNats()).url),
  },
  {
    name: 'over NATS',
    open: openNats,
    ...(hasNats ? {} : { skip: 'nats-server is not installed' }),
  },
]

/** A bus that keeps what it has received, as texts. */
async function listen(connect: Connect, boot: string, clusterId?: string) {
  const bus = connect(boot, clusterId)
  const received: Buffer[] = []
  const changes: boolean[] = []
  await bus.start({
    received: (message) => void received.push(Buffer.from(message)),
    changed: (isUp) => void changes.push(isUp),
  })
  closers.push(() => bus.close())
  return { bus, received, changes, texts: () => received.map(String) }
}

const patient = { interval: 5 }

for (const { name, open, skip } of kinds) {
  if (skip !== undefined) process.stderr.write(`a bus ${name} is not tested: ${skip}\n`)
  describe.skipIf(skip !== undefined)(`a bus ${name}`, () => {
    it('[R-CL-17] brings the messages of one node to another in order', async () => {
      const connect = await open()
      const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
      const sent = Array.from({ length: 300 }, (_, at) => `message ${at}`)
      for (const [at, text] of sent.entries()) {
        a.bus.send('bt1-b', Buffer.from(text))
        if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await expect.poll(() => b.received.length, patient).toBe(300)
      expect(b.texts()).toEqual(sent)
      expect(a.received).toEqual([])
      expect([a.bus.isUp, b.bus.isUp]).toEqual([true, true])
    })

    it('[R-CL-17] brings what is for all to every other node', async () => {
      const connect = await open()
      const nodes = await Promise.all(['a', 'b', 'c'].map((each) => listen(connect, `bt1-${each}`)))
      nodes[0]?.bus.sendAll(Buffer.from('hello'))
      await expect
        .poll(() => nodes.map(({ received }) => received.length), patient)
        .toEqual([0, 1, 1])
    })

    it('[R-CL-17] carries messages of several megabytes, and empty ones', async () => {
      const connect = await open()
      const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
      const large = Buffer.alloc(3_000_000, 'x')
      large.write('begin')
      large.write('end', large.length - 3)
      a.bus.send('bt1-b', large)
      a.bus.send('bt1-b', Buffer.alloc(0))
      a.bus.send('bt1-b', Buffer.from('behind'))
      await expect.poll(() => b.received.length, patient).toBe(3)
      expect(b.received[0]?.equals(large)).toBe(true)
      expect(b.texts().slice(1)).toEqual(['', 'behind'])
    })

    it.skipIf(name === 'in memory')('[R-CL-17] keeps deployments apart', async () => {
      const connect = await open()
      const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b', 'other')]
      const c = await listen(connect, 'bt1-c')
      a.bus.sendAll(Buffer.from('for all'))
      a.bus.send('bt1-b', Buffer.from('for b'))
      await expect.poll(() => c.received.length, patient).toBe(1)
      expect(b.received).toEqual([])
    })
  })
}

it('[R-CL-14] garbage on a channel of PostgreSQL is counted and dropped', async () => {
  invalid = 0
  const { url } = await openPostgres()
  const connect = postgresBus(url)
  const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (const payload of ['', 'no base64 at all', Buffer.alloc(40, 255).toString('base64')]) {
    await client.query('SELECT pg_notify($1, $2)', ['gh_test_b', payload])
  }
  await client.end()
  a.bus.send('bt1-b', Buffer.from('still here'))
  await expect.poll(() => b.received.length, patient).toBe(1)
  expect(b.texts()).toEqual(['still here'])
  expect(invalid).toBe(3)
})

/** A pooler in transaction mode: everything passes but notifications. */
async function startPooler(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const pooler = createServer((client) => {
    const upstream = connectTo(Number(port), hostname)
    client.pipe(upstream)
    let waiting = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length >= 5 && waiting.length > waiting.readUInt32BE(1)) {
        const end = waiting.readUInt32BE(1) + 1
        if (waiting.toString('latin1', 0, 1) !== 'A') client.write(waiting.subarray(0, end))
        waiting = waiting.subarray(end)
      }
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve))
  closers.push(async () => pooler.close())
  const address = pooler.address()
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(typeof address === 'object' ? address?.port : 0)
  return through.href
}

it('[R-CL-17] a start behind a pooler in transaction mode is refused, and names the way out', async () => {
  const { url } = await openPostgres()
  const bus = postgresBus(await startPooler(url))('bt1-a')
  closers.push(() => bus.close())
  await expect(bus.start({ received() {}, changed() {} })).rejects.toThrow(
    /pooler in transaction mode cluster\.listen_url must be the database itself/,
  )
})

it.each([
  { over: 'the protocol of NATS', isReal: false },
  { over: 'NATS', isReal: true },
])('[R-CL-14] garbage on a subject of $over is counted and dropped', async ({ isReal }) => {
  if (isReal && !hasNats) return
  invalid = 0
  const port = isReal ? await startRealNats() : Number(new URL((await openFakeNats()).url).port)
  const connect = natsBus(`nats://127.0.0.1:${port}`)
  const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
  const stranger = connectTo(port, '127.0.0.1')
  stranger.on('error', () => {})
  stranger.write('CONNECT {"verbose":false}\r\n')
  for (const payload of ['', 'short', 'no part of anything, but long enough for its header']) {
    stranger.write(`PUB guildhall.test.bt1-b ${payload.length}\r\n${payload}\r\n`)
  }
  await expect.poll(() => invalid, patient).toBe(3)
  stranger.destroy()
  a.bus.send('bt1-b', Buffer.from('still here'))
  await expect.poll(() => b.texts(), patient).toEqual(['still here'])
})

it('[R-CL-17] a bus of PostgreSQL knows that its connection is lost, and comes back', async () => {
  const { url } = await openPostgres()
  const connect = postgresBus(url)
  const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Other tests have buses in other databases of the same server.
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'guildhall bus' AND datname = current_database()`,
  )
  await expect.poll(() => b.changes, patient).toEqual([true, false, true])
  await expect.poll(() => a.changes, patient).toEqual([true, false, true])
  await client.end()
  a.bus.send('bt1-b', Buffer.from('again'))
  await expect.poll(() => b.texts(), patient).toEqual(['again'])
})

it('[R-CL-17] a bus of NATS knows that its connection is lost, and comes back', async () => {
  const server = await startNatsServer()
  closers.push(server.close)
  const connect = natsBus(server.url)
  const [a, b] = [await listen(connect, 'bt1-a'), await listen(connect, 'bt1-b')]
  server.cut()
  await expect.poll(() => b.changes, patient).toEqual([true, false, true])
  await expect.poll(() => a.changes, patient).toEqual([true, false, true])
  a.bus.send('bt1-b', Buffer.from('again'))
  await expect.poll(() => b.texts(), patient).toEqual(['again'])
})
