import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import {
  consoleSessionsApi,
  MatchRecord,
  matchesApi,
  matchRecordsApi,
  RuntimeView,
  Status,
} from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'
import { rowsOf } from '../../testing/tables.ts'

const script = `
guildhall.on_rpc('ping', (ctx, payload) => 'pong ' + new TextDecoder().decode(payload))
guildhall.on_rpc('choosy', () => guildhall.fail('not today'))
guildhall.on_rpc('broken', () => { throw new Error('a secret of the script') })
`

async function setUp() {
  const sqlite = testBackends.find(({ name }) => name === 'sqlite')
  if (sqlite === undefined) throw new Error('there is no such backend')
  const test = await sqlite.open()
  await test.db.close()
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-console-'))
  writeFileSync(join(folder, 'main.js'), script)
  onTestFinished(async () => {
    await test.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  const keys = { 'database.url': test.url, 'runtime.scripts_dir': folder }
  return { test, start: () => startNodeProcess(keys) }
}

it('[H-RUN-1] [H-RUN-2] [S-CRPC-2] [S-VIEW-1] operators see and call the script of a node', async () => {
  const { start } = await setUp()
  const node = await start()
  const { send } = await openOperator({ call: createCaller(node.url) })
  const view = RuntimeView().parse((await send('GET', '/runtime')).body)
  expect(view).toMatchObject({ enabled: true, attached: true, selected_language: 'javascript' })
  expect(view.script?.rpcs).toEqual(['broken', 'choosy', 'ping'])
  const rpc = async (method: string) =>
    (await send('POST', `/runtime/rpc/${method}`, { payload: 'é' })).body
  expect(await rpc('ping')).toEqual({ ok: true, reply: 'pong é' })
  expect(await rpc('choosy')).toEqual({ ok: false, error: 'not today' })
  const cause = { reason: 'Error: a secret of the script', place: 'main.js:4' }
  expect(await rpc('broken')).toEqual({ ok: false, error: 'RPC handler error', ...cause })
  expect(await rpc('party.create')).toEqual({ ok: false, error: 'unknown RPC method' })
  expect(await node.stop()).toBe(0)
})

it('[R-CON-1] [R-REC-1] [R-REC-7] a room is seen while it lives, and its record afterwards', async () => {
  const { start } = await setUp()
  const node = await start()
  const { send } = await openOperator({ call: createCaller(node.url) })
  const records = async () =>
    matchRecordsApi.list.ok.parse((await send('GET', '/matchlogs')).body).items
  const player = createPlayer(node.url)
  await player.signIn.device({ id: 'device', create: true, username: 'ana' })
  const connection = await player.connect()
  const arena = await connection.rooms.create('arena')
  const [live] = matchesApi.list.ok.parse((await send('GET', '/matches')).body).rooms
  expect(live).toMatchObject({ id: arena.id, name: 'arena', players: 1 })
  const detail = matchesApi.get.ok.parse((await send('GET', `/matches/${arena.id}`)).body)
  expect(detail.members.map(({ user_id }) => user_id)).toEqual([player.session()?.user_id])
  expect(await records()).toMatchObject([{ room_id: arena.id, open: true, name: 'arena' }])
  await connection.close()
  await expect.poll(async () => (await records())[0]?.open).toBe(false)
  expect((await records())[0]).toMatchObject({
    termination_reason: 'final_departure',
    join_total: 1,
    peak_participants: 1,
  })
  const again = await player.connect()
  await again.rooms.create('lost')
  await expect.poll(async () => (await records()).length).toBe(2)
  await node.kill()

  const next = await start()
  const operator = await openOperator({ call: createCaller(next.url) })
  const [lost] = matchRecordsApi.list.ok.parse(
    (await operator.send('GET', '/matchlogs')).body,
  ).items
  expect(MatchRecord().parse(lost)).toMatchObject({
    open: false,
    termination_reason: 'server_closed',
  })
  const status = Status().parse((await createCaller(next.url)('GET', '/status')).body)
  const queues = status.write_behind.map(({ name }) => name)
  expect(queues).toEqual(expect.arrayContaining(['audit', 'matches', 'script_logs', 'slices']))
  expect(await next.stop()).toBe(0)
})

it('[R-REC-4] [O-STP-2] a node that stops closes its matches, and writes that', async () => {
  const { test, start } = await setUp()
  const node = await start()
  const connection = await createPlayer(node.url).connect()
  await connection.rooms.create('arena')
  expect(await node.stop()).toBe(0)
  const rows = await rowsOf(await test.reopen(), 'match_records')
  expect(rows).toMatchObject([{ name: 'arena', termination_reason: 'server_closed' }])
})

it('[R-REV-1] a session that operators end loses its connection, the others keep theirs', async () => {
  const { start } = await setUp()
  const node = await start()
  const { send } = await openOperator({ call: createCaller(node.url) })
  const device = { id: 'device', create: true, username: 'ana' }
  const players = [createPlayer(node.url), createPlayer(node.url), createPlayer(node.url)] as const
  for (const player of players) await player.signIn.device(device)
  const connections = [await players[0].connect(), await players[1].connect()] as const
  const states = connections.map((connection) => {
    const seen: object[] = []
    connection.on('state', (event) => seen.push(event))
    return seen
  })
  const ended = { state: 'closed', reason: 'session_revoked', closeCode: 4004 }
  const path = `/accounts/${players[0].session()?.user_id}/sessions`
  const list = async () => consoleSessionsApi.list.ok.parse((await send('GET', path)).body).items
  const before = await list()
  expect(before.map(({ connected }) => connected)).toEqual([false, true, true])
  expect((await send('POST', `${path}/${before[2]?.id}/revoke`)).status).toBe(200)
  await expect.poll(() => states).toEqual([[ended], []])
  expect(await list()).toEqual(before.slice(0, 2))
  expect((await send('POST', `${path}/revoke`)).body).toEqual({ sessions_revoked: 2 })
  await expect.poll(() => states).toEqual([[ended], [ended]])
  expect(await node.stop()).toBe(0)
})
