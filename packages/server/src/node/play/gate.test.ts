import { type Connection, createPlayer } from '@guildhall/client'
import { kinds } from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { type Player, playerOf } from '../../realtime/play/rooms/rooms.fixture.ts'
import { openClient } from '../../realtime/realtime.fixture.ts'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'

const closed = 'game script unavailable'

const handOver = { ticket_id: 'none', join_token: 'x'.repeat(43) }
const gated: [what: string, ask: (connection: Connection) => Promise<unknown>][] = [
  ['an RPC of the script', (connection) => connection.rpc('anything')],
  ['rooms.create', (connection) => connection.rooms.create('den')],
  ['rooms.join', (connection) => connection.rooms.join(1)],
  ['rooms.list', (connection) => connection.rooms.list()],
  ['matchmaker.add', (connection) => connection.matchmaker.find()],
  ['matchmaker.accept', (connection) => connection.rpc('matchmaker.accept', handOver)],
]

/** Below the SDK, which enters rooms by one kind. */
const requests: [kind: number, ask: (guest: Player) => void][] = [
  [kinds.ROOM_CREATE.first, (guest) => guest.create('den')],
  [kinds.ROOM_JOIN.first, (guest) => guest.joinRoom(1)],
  [kinds.ROOM_ENTER.first, (guest) => guest.enter({ mode: 'join', room_id: 1, options: '' })],
]

it('[S-GATE-2] [S-GATE-3] a node without its script refuses what needs it, and serves the rest', async () => {
  const node = await startNodeProcess({
    'runtime.require_script': 'true',
    'runtime.scripts_dir': '/nowhere',
  })
  onTestFinished(() => node.stop().then(() => {}))
  const rejections = async () => {
    const text = await (await fetch(`${node.url}/status`)).text()
    return Number(/"script_gate_rejections_total":(\d+)/.exec(text)?.[1])
  }
  const player = createPlayer(node.url)
  await player.signIn.device({ id: 'gate', create: true, username: 'gate' })
  const connection = await player.connect()
  let refused = 0
  for (const [what, ask] of gated) {
    await expect(ask(connection), what).rejects.toThrow(closed)
    refused += 1
    expect([what, await rejections()]).toEqual([what, refused])
  }
  const guest = playerOf(await openClient(Number(new URL(node.url).port)))
  guest.send(kinds.AUTH.first, '')
  await guest.line()
  for (const [kind, ask] of requests) {
    ask(guest)
    expect(await guest.line()).toBe(`rejected ${kind} ${closed}`)
    refused += 1
    expect([kind, await rejections()]).toEqual([kind, refused])
  }
  guest.end()
  const call = createCaller(node.url)
  const operator = await openOperator({ call })
  for (const path of ['/matches', '/matches/1']) {
    expect((await operator.send('GET', path)).status).toBe(503)
  }
  expect((await operator.send('POST', '/runtime/rpc/x', { payload: '' })).status).toBe(503)
  expect(await rejections()).toBe(refused + 3)

  expect(connection.state).toBe('open')
  expect((await connection.party.create()).members).toHaveLength(1)
  expect((await player.account.get()).username).toBe('gate')
  expect((await operator.send('GET', '/matchlogs')).status).toBe(200)
  expect((await operator.send('GET', '/accounts')).status).toBe(200)
  expect((await call('GET', '/health/ready')).status).toBe(503)
  expect(await rejections()).toBe(refused + 3)
  await connection.close()
})
