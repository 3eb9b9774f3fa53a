import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { createConsoleClient } from '@guildhall/client/console'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'

/** Two nodes as operators run them, on one PostgreSQL. */

const script = `
guildhall.on_message(100, (ctx, body) => guildhall.broadcast(100, body))
guildhall.on_rpc('where', (ctx) => JSON.stringify({ room: ctx.room_id, user: ctx.user_id }))
`

const operatorPassword = 'correct horse battery'
const folder = mkdtempSync(join(tmpdir(), 'guildhall-cluster-'))
let database: TestDatabase
const nodes: NodeProcess[] = []

beforeAll(async () => {
  writeFileSync(join(folder, 'main.js'), script)
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  database = await postgres.open()
  nodes.push(...(await Promise.all([start('one'), start('two')])))
}, 60_000)

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await database.dispose()
  rmSync(folder, { recursive: true, force: true })
})

function start(name: string, keys: Record<string, string> = {}): Promise<NodeProcess> {
  return startNodeProcess({
    'database.url': database.url,
    'server.node_id': name,
    'runtime.scripts_dir': folder,
    'console.password': operatorPassword,
    'authentication.limits.registration_source.limit': '1000',
    'cluster.enabled': 'true',
    ...keys,
  })
}

async function player(at: number, name: string): Promise<Connection> {
  const url = nodes[at]?.url ?? ''
  const made = createPlayer(url)
  const username = `${name}-${randomUUID()}`
  await made.signIn.device({ id: username, create: true, username })
  return made.connect({ reconnect: { baseMs: 10 } })
}

const patient = { timeout: 20_000, interval: 20 }

it('[R-CL-3, R-CL-4, R-CL-5] players on two nodes meet in a room by its name', async () => {
  const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
  const name = randomUUID()
  const here = await ana.rooms.joinOrCreate(name)
  const there = await ben.rooms.joinOrCreate(name)
  expect(there.id).toBe(here.id)
  const heard: string[] = []
  here.on(100, (message) => heard.push(`ana ${message.text()}`))
  there.on(100, (message) => heard.push(`ben ${message.text()}`))
  there.send(100, 'hello')
  here.send(100, 'hi')
  await expect.poll(() => heard.toSorted(), patient).toEqual(['ana hello', 'ben hi'])
  expect(await ben.rpc('where')).toEqual({ room: here.id, user: ben.userId })
  await there.leave()
  await ana.close()
  await ben.close()
}, 60_000)

it('[R-CL-13] members elsewhere of a killed owner get MATCH_CLOSED, and their node plays on', async () => {
  const name = randomUUID()
  const doomed = await start('doomed')
  nodes.push(doomed)
  const ana = await player(nodes.length - 1, 'ana')
  const ben = await player(1, 'ben')
  await ana.rooms.joinOrCreate(name)
  const room = await ben.rooms.joinOrCreate(name)
  const closed = new Promise((resolve) => room.on('closed', resolve))
  await doomed.kill()
  await closed
  // The name is free once the lease of the killed node is over.
  await expect
    .poll(
      () =>
        ben.rooms.joinOrCreate(name).then(
          ({ id }) => id !== room.id,
          () => false,
        ),
      patient,
    )
    .toBe(true)
  await ana.close()
  await ben.close()
}, 60_000)

it('[R-CL-12] players of two nodes are in one party, and a third one is matched with them', async () => {
  const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
  const cid = await player(1, 'cid')
  const { party_id } = await ana.party.create({ open: true })
  const joined = await ben.party.join({ party_id })
  expect(joined).toMatchObject({
    members: [{ user_id: ana.userId }, { user_id: ben.userId, online: true }],
  })
  const follows = new Promise<number>((resolve) => {
    ben.on('matched', async (match) => resolve((await match.accept()).id))
  })
  const [search, own] = await Promise.all([
    ana.matchmaker.find({ party_id, min_count: 3 }),
    cid.matchmaker.find({ min_count: 3 }),
  ])
  const [first, second] = await Promise.all([search.room, own.room])
  expect(second.id).toBe(first.id)
  expect(await follows).toBe(first.id)
  for (const each of [ana, ben, cid]) await each.close()
}, 60_000)

it('[R-CL-21] the console of a node shows the rooms and nodes of all', async () => {
  const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
  const here = await ana.rooms.joinOrCreate(randomUUID())
  const there = await ben.rooms.joinOrCreate(randomUUID())
  const operator = createConsoleClient(nodes[0]?.url ?? '')
  await operator.signIn({ username: 'admin', password: operatorPassword })
  const listed = await operator.matches.list({ query: {} })
  expect(listed.nodes_missing).toEqual([])
  expect(listed.rooms).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: here.id, node_id: 'one' }),
      expect.objectContaining({ id: there.id, node_id: 'two' }),
    ]),
  )
  expect(await operator.matches.get({ params: { id: there.id } })).toMatchObject({
    ...{ node_id: 'two', members: [{ user_id: ben.userId }] },
  })
  const { items } = await operator.matches.nodes({})
  expect(items.filter(({ state }) => state === 'live').map(({ node_id }) => node_id)).toEqual(
    expect.arrayContaining(['one', 'two']),
  )
  await ana.close()
  await ben.close()
}, 60_000)

it('[R-CL-1] a start beside a live node with another setting is refused, and names the key', async () => {
  const other = { 'rooms.reconnect_grace_ms': '4000' }
  await expect(start('other', other)).rejects.toThrow(/ended with 2[\s\S]*reconnect_grace_ms/)
}, 60_000)

it('[R-CL-20, O-NOD-3] a node that is asked to end lets its rooms end first', async () => {
  const draining = await start('draining', { 'cluster.drain_ms': '60000' })
  nodes.push(draining)
  const name = randomUUID()
  const ana = await player(nodes.length - 1, 'ana')
  const ben = await player(1, 'ben')
  const here = await ana.rooms.joinOrCreate(name)
  const there = await ben.rooms.joinOrCreate(name)
  let isEnded = false
  const stopped = draining.stop().finally(() => {
    isEnded = true
  })
  await expect
    .poll(() => fetch(`${draining.url}/health`).then(({ status }) => status), patient)
    .toBe(503)
  const heard = new Promise<string>((resolve) => here.on(100, (each) => resolve(each.text())))
  there.send(100, 'still playing')
  expect(await heard).toBe('still playing')
  // What its clients make now is made on another node, and outlives it.
  const room = await ana.rooms.joinOrCreate(randomUUID())
  expect(Math.floor(room.id / 2 ** 40)).not.toBe(Math.floor(here.id / 2 ** 40))
  expect(isEnded).toBe(false)
  await there.leave()
  expect(await stopped).toBe(0)
  await ana.close()
  await ben.close()
}, 90_000)
