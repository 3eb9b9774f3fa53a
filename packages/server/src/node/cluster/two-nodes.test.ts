import { randomUUID } from 'node:crypto'
import type { Connection } from '@guildhall/client'
import { createConsoleClient } from '@guildhall/client/console'
import { consoleApi } from '@guildhall/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NodeProcess } from '../../testing/node-process.ts'
import { openRealNodes, playerOf, type RealNodes, relayScript } from './real-nodes.fixture.ts'

/** Two nodes as operators run them, on one PostgreSQL. */

const script = `${relayScript}
guildhall.on_rpc('where', (ctx) => JSON.stringify({ room: ctx.room_id, user: ctx.user_id }))
`

const operatorPassword = 'correct horse battery'
let real: RealNodes
const nodes: NodeProcess[] = []

beforeAll(async () => {
  real = await openRealNodes(script)
  nodes.push(...(await Promise.all([start('one'), start('two')])))
})

afterAll(() => real.dispose())

function start(name: string, keys: Readonly<Record<string, string>> = {}): Promise<NodeProcess> {
  return real.start(name, { 'console.password': operatorPassword, ...keys })
}

const player = (at: number, name: string): Promise<Connection> => playerOf(nodes[at], name)

const patient = { interval: 20 }

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
})

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
})

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
})

it('[R-CL-21] the console of a node shows the rooms and nodes of all', async () => {
  const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
  const here = await ana.rooms.joinOrCreate(randomUUID())
  const there = await ben.rooms.joinOrCreate(randomUUID())
  const operator = createConsoleClient(nodes[0]?.url ?? '')
  await operator.signIn({ username: 'admin', password: operatorPassword })
  // A node that was killed is missing until its lease is over.
  const missing = async () => (await operator.matches.list({ query: {} })).nodes_missing
  await expect.poll(missing, patient).toEqual([])
  const listed = await operator.matches.list({ query: {} })
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
})

/** An operator who has signed in at the first node, at whichever node. */
async function operatorAnywhere() {
  const answer = await fetch(`${nodes[0]?.url}/console/v1/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: operatorPassword }),
  })
  const { token } = consoleApi.login.ok.parse(await answer.json())
  return { at: (index: number) => consoleAt(nodes[index]?.url ?? '', token) }
}

function consoleAt(url: string, token: string) {
  return async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/console/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
  }
}

it('[O-NOD-4] a console token and a row reference of one node are good on the other', async () => {
  const { at } = await operatorAnywhere()
  const players = [await player(0, 'ana'), await player(1, 'ben')]
  const table = { schema: 'public', table: 'accounts' }
  const question = { table, sort: { column: 'id', direction: 'asc' }, limit: 1 }
  const first = await at(1)('POST', '/database/rows', question)
  expect(first.status).toBe(200)
  const { row_ref } = first.body.rows[0]
  expect((await at(0)('POST', '/database/row', { table, row_ref })).status).toBe(200)
  const next = await at(0)('POST', '/database/rows', { ...question, cursor: first.body.next })
  expect(next.status).toBe(200)
  expect(next.body.rows[0].values.id).not.toEqual(first.body.rows[0].values.id)
  for (const each of players) await each.close()
})

it('[H-OPS-5, R-CL-21] a node removes members of, and closes, the room of another one', async () => {
  const { at } = await operatorAnywhere()
  const [ana, ben] = [await player(0, 'ana'), await player(1, 'ben')]
  const name = randomUUID()
  const here = await ana.rooms.joinOrCreate(name)
  const there = await ben.rooms.joinOrCreate(name)
  const path = `/matches/${here.id}`
  const call = await at(1)('POST', '/runtime/rpc/where', { payload: '', room_id: here.id })
  expect(call.body).toMatchObject({ ok: true })
  const missing = await at(1)('POST', '/runtime/rpc/where', { payload: '', room_id: here.id + 1 })
  expect(missing.status).toBe(404)
  const removed = new Promise((resolve) => there.on('closed', resolve))
  const { members } = (await at(1)('GET', path)).body
  const { participant } = members.find((each: { user_id: string }) => each.user_id === ben.userId)
  expect((await at(1)('POST', `${path}/members/${participant}/remove`)).status).toBe(204)
  await removed
  const closed = new Promise((resolve) => here.on('closed', resolve))
  expect((await at(1)('POST', `${path}/close`)).status).toBe(204)
  await closed
  await expect.poll(async () => (await at(1)('POST', `${path}/close`)).status, patient).toBe(404)
  await ana.close()
  await ben.close()
})

it('[R-CL-1] a start beside a live node with another setting is refused, and names the key', async () => {
  const other = { 'rooms.reconnect_grace_ms': '4000' }
  await expect(start('other', other)).rejects.toThrow(/ended with 2[\s\S]*reconnect_grace_ms/)
})

it('[R-CL-1] a second node of one node_id is refused beside the first', async () => {
  await expect(start('one')).rejects.toThrow(/ended with 4[\s\S]*node_id one/)
})

it('[R-CL-13, R-CL-16] a paused owner is as if it was killed; when it wakes it gives up the name', async () => {
  const name = randomUUID()
  const paused = await start('paused')
  nodes.push(paused)
  const ana = await player(nodes.length - 1, 'ana')
  const ben = await player(1, 'ben')
  const here = await ana.rooms.joinOrCreate(name)
  const there = await ben.rooms.joinOrCreate(name)
  expect(there.id).toBe(here.id)
  const closed = new Promise((resolve) => there.on('closed', resolve))
  process.kill(paused.pid, 'SIGSTOP')
  await closed
  let taken = there.id
  await expect
    .poll(async () => {
      taken = await ben.rooms.joinOrCreate(name).then(
        ({ id }) => id,
        () => there.id,
      )
      return taken !== there.id
    }, patient)
    .toBe(true)
  process.kill(paused.pid, 'SIGCONT')
  const { at } = await operatorAnywhere()
  const holders = async () => {
    const { rooms } = (await at(1)('GET', `/matches?filter=${name}`)).body
    return rooms.map(({ id }: { id: number }) => id)
  }
  await expect.poll(holders, patient).toEqual([taken])
  // The rest of the node goes on.
  await expect
    .poll(() => fetch(`${paused.url}/health`).then(({ status }) => status), patient)
    .toBe(200)
  const again = await player(nodes.indexOf(paused), 'cid')
  expect((await again.rooms.joinOrCreate(name)).id).toBe(taken)
  for (const each of [ana, ben, again]) await each.close()
}, 120_000)

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
})
