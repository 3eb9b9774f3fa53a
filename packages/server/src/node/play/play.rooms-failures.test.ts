import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kinds, type RoomEnter, sessionOptionsBody } from '@guildhall/contract'
import { describe, expect, it, onTestFinished } from 'vitest'
import { durableBackends, type TestBackend } from '../../database/testing/backends.ts'
import { callMethod, type Player, playerOf } from '../../realtime/play/rooms/rooms.fixture.ts'
import { openClient, waiting } from '../../realtime/realtime.fixture.ts'
import { createCaller } from '../../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'
import { rowsOf } from '../../testing/tables.ts'

const script = `
let waiting = 0
const answers = {
  throws() { throw new Error('no') },
  loops() { while (true) {} },
  nan: () => NaN,
  players: () => 2 ** 17,
  nanPlayers: () => ({ max_players: NaN }),
  tooManyPlayers: () => ({ max_players: 2 ** 17 }),
  never() { waiting += 1; return new Promise(() => {}) },
}
guildhall.on_room_create((ctx) => answers[ctx.options.how]?.())
guildhall.on_room_join((ctx) => ctx.options.how === undefined || answers[ctx.options.how]())
guildhall.on_match_join(() => { throw new Error('no') })
guildhall.on_match_leave(() => { while (true) {} })
guildhall.on_message(1, (ctx, body) => guildhall.broadcast(101, body))
guildhall.on_rpc('waiting', () => waiting)
`

/** A node whose script fails on demand, with a store that outlives it. */
async function start(backend: TestBackend, more: Record<string, string> = {}) {
  const test = await backend.open()
  // A file belongs to one process.
  await test.db.close()
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-failures-'))
  writeFileSync(join(folder, 'main.js'), script)
  const node = await startNodeProcess({
    'database.url': test.url,
    'runtime.scripts_dir': folder,
    'runtime.require_script': 'true',
    'runtime.call_timeout_ms': '2000',
    ...more,
  })
  onTestFinished(async () => {
    await node.stop()
    await test.dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  /** Stops the node and answers what it has recorded, by room. */
  const stop = async () => {
    expect(await node.stop()).toBe(0)
    const rows = await rowsOf(await test.reopen(), 'match_records')
    return rows.sort((a, b) => Number(a.room_id) - Number(b.room_id))
  }
  return { node, stop }
}

const [file] = durableBackends
if (file === undefined) throw new Error('there is no file backend')

/** A guest; `flags` are the options that it asks for. */
async function connect(node: NodeProcess, flags?: number): Promise<Player> {
  const client = playerOf(await openClient(Number(new URL(node.url).port)))
  onTestFinished(() => client.end())
  client.send(kinds.AUTH.first)
  await client.next()
  if (flags === undefined) return client
  client.send(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags }))
  await client.next()
  return client
}

const making = (name: string, how?: string): RoomEnter => ({
  mode: 'join_or_create',
  name,
  options: how === undefined ? '' : JSON.stringify({ how }),
})

describe('a script that fails', () => {
  it('[R-ROOM-10] [S-HK-6] [S-HK-7] has its requests refused, and nothing else', async () => {
    const { node, stop } = await start(file)
    const [ann, bob] = [await connect(node), await connect(node)]
    for (const how of [
      'throws',
      'loops',
      'nan',
      'players',
      'nanPlayers',
      'tooManyPlayers',
      'never',
    ]) {
      ann.enter(making('den', how))
      expect([how, await ann.line()]).toEqual([how, 'rejected 48 room creation failed'])
    }
    ann.enter(making('den'))
    expect(await ann.line()).toBe('joined 1 den/')
    for (const how of ['throws', 'loops', 'nan', 'players', 'nanPlayers', 'never']) {
      bob.enter(making('den', how))
      expect([how, await bob.line()]).toEqual([how, 'rejected 48 join check failed'])
    }
    bob.enter(making('den'))
    expect(await bob.line()).toBe('joined 1 den/')
    for (const player of [ann, bob]) {
      player.leave()
      expect(await player.line()).toBe('left 1')
    }
    expect(await stop()).toMatchObject([
      { name: 'den', join_total: 2n, peak_participants: 2n, termination_reason: 'final_departure' },
    ])
  })

  it('[R-REC-4] [S-REC-5] whose worker is killed in a match and in an admission closes its rooms', async () => {
    const { node, stop } = await start(file)
    const [ann, bob, cid] = [await connect(node, 1), await connect(node), await connect(node)]
    const dan = await connect(node)
    ann.enter(making('den'))
    expect(await ann.lines(2)).toEqual(['joined 1 den/', 'v1 snapshot 1 1'])
    bob.enter(making('den', 'never'))
    cid.enter(making('lair', 'never'))
    await expect.poll(() => callMethod(dan, 'waiting', {}), waiting).toBe(2)
    process.kill(workerOf(node.pid), 'SIGKILL')
    expect(await ann.lines(2)).toEqual(['closed 1 0 true', 'v1 left 1 1:removed'])
    expect(await bob.line()).toBe('rejected 48 join check failed')
    expect(await cid.line()).toBe('rejected 48 room creation failed')
    const again = async () => {
      bob.enter(making('den'))
      return await bob.line()
    }
    await expect.poll(again, waiting).toBe('joined 2 den/')
    ann.joinRoom(1)
    expect(await ann.line()).toBe('rejected 22 room not found')
    ann.joinRoom(2)
    expect(await ann.line()).toBe('joined 2 den/')
    expect(await stop()).toMatchObject([
      { room_id: 1n, termination_reason: 'server_closed', join_total: 1n },
      { room_id: 2n, termination_reason: 'server_closed', join_total: 2n },
    ])
  })

  it('[S-HK-2] a script that handles kind 1 gets it, and its room what it sends on', async () => {
    const { node } = await start(file)
    const [ann, bob] = [await connect(node), await connect(node)]
    const [cid, dan] = [await connect(node), await connect(node)]
    for (const player of [ann, bob]) {
      player.enter(making('den'))
      expect(await player.line()).toBe('joined 1 den/')
    }
    ann.send(kinds.POSITION.first, 'here')
    expect(await bob.line()).toBe('kind 101 here')
    expect(ann.received).toEqual([])
    // Outside rooms nothing is relayed either: a broadcast from there reaches everybody.
    cid.send(kinds.POSITION.first, 'there')
    expect(await dan.line()).toBe('kind 101 there')
    await callMethod(dan, 'waiting', {})
    expect([ann.received.length, dan.received.length]).toEqual([1, 0])
  })
})

it('[R-PSH-1] what operators store is pushed to nobody', async () => {
  const { node } = await start(file)
  const call = createCaller(node.url)
  const signUp = { body: { id: 'device-ann', create: true, username: 'ann' } }
  const signed = await call('POST', '/v1/auth/device', signUp)
  const { token, user_id } = signed.body as { token: string; user_id: string }
  const ann = playerOf(await openClient(Number(new URL(node.url).port)))
  onTestFinished(() => ann.end())
  ann.send(kinds.AUTH.first, token)
  await ann.next()
  const operator = await openOperator({ call })
  const stored = { subject: 'news', content: {}, code: 7 }
  for (const to of [user_id, null]) {
    const sent = await operator.send('POST', '/notifications', { user_id: to, ...stored })
    expect(sent.status).toBe(201)
  }
  const message = { sender: 'ann', content: 'hello' }
  expect((await operator.send('POST', '/chat/lobby/messages', message)).status).toBe(200)
  ann.enter(making('den'))
  expect(await ann.line()).toBe('joined 1 den/')
  expect(ann.received).toEqual([])
})

it.each(durableBackends.filter(({ name }) => name === 'postgres'))(
  '[R-CLS-4] [R-REC-4] a stop with 1,000 rooms closes every record, on $name',
  async (backend) => {
    const { node, stop } = await start(backend)
    const players = await Promise.all(Array.from({ length: 1000 }, () => connect(node)))
    for (const [index, player] of players.entries()) player.create(`room-${index}`)
    for (const player of players) expect(await player.line()).toMatch(/^joined /)
    const rows = await stop()
    expect(rows).toHaveLength(1000)
    const wrong = rows.filter((row) => {
      return row.termination_reason !== 'server_closed' || row.closed_at_unix_ms === null
    })
    expect(wrong).toEqual([])
  },
)

/** The process in which a node runs its script. */
function workerOf(pid: number): number {
  const parent = (each: string) => {
    try {
      return /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1]
    } catch {
      return undefined
    }
  }
  const children = readdirSync('/proc').filter(
    (each) => /^\d+$/.test(each) && parent(each) === `${pid}`,
  )
  const [worker] = children
  if (worker === undefined || children.length > 1) throw new Error(`children: ${children.join()}`)
  return Number(worker)
}
