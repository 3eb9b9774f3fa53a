import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Connection, createPlayer } from '@guildhall/client'
import { expect, it, vi } from 'vitest'
import { serveForSdk } from './sdk-node.fixture.ts'

/** A reload of the script while players have things under way. */

const script = (n: number) => `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let seen = []
guildhall.on_start(({ state }) => { seen = state ?? [] })
guildhall.on_unload(() => seen)
guildhall.on_rpc('version', () => '${n}')
guildhall.on_rpc('seen', () => seen)
guildhall.on_rpc('open', async () => { await wait(400); return '${n}' })
guildhall.on_rpc('save', async (ctx, body) => {
  const key = new TextDecoder().decode(body)
  await guildhall.storage_write(ctx.user_id, 'saves', key, { by: ${n} }, { version: '' })
  await wait(20)
  await guildhall.storage_write(ctx.user_id, 'sealed', key, { by: ${n} }, { version: '' })
})
guildhall.on_rpc('saved', async (ctx) => {
  const of = async (name) => {
    const { items } = await guildhall.storage_list(ctx.user_id, name, { limit: 100 })
    return items.map(({ key, value }) => [key, value.by])
  }
  return [await of('saves'), await of('sealed')]
})
guildhall.on_matchmaker_add(async () => { await wait(300) })
guildhall.on_matchmaker_matched(() => 'map ${n}')
guildhall.on_drop(({ sender }) => void seen.push('drop ' + sender))
guildhall.on_return(({ sender }) => void seen.push('return ' + sender + ' in ${n}'))
guildhall.on_leave(({ sender }) => void seen.push('leave ' + sender))
guildhall.on_match_join(({ participant }) => void seen.push('join ' + participant))`

const node = serveForSdk(script(1), {
  'runtime.hot_reload': 'true',
  'runtime.hot_reload_poll_ms': '50',
})
let saved = 1

async function signIn(url = node.url): Promise<Connection> {
  const player = createPlayer(url)
  const username = `player-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  return player.connect({ transport: 'websocket', reconnect: { baseMs: 10 } })
}

const version = (connection: Connection) => connection.rpc('version', undefined, { as: 'text' })

/** Saves the next script; the function waits until it serves. */
async function save(): Promise<(connection: Connection) => Promise<string>> {
  saved += 1
  const at = join(node.folder, 'main.ts')
  await writeFile(`${at}~`, script(saved))
  await rename(`${at}~`, at)
  const is = String(saved)
  return async (connection) => {
    await vi.waitFor(async () => expect(await version(connection)).toBe(is))
    return is
  }
}

it('[S-REL-4] [S-REL-8] finds calls open: each is answered, by the script that began it', async () => {
  const ana = await signIn()
  const before = String(saved)
  const serves = await save()
  const answers: Promise<unknown>[] = []
  let isNew = false
  const over = serves(ana).then((now) => {
    isNew = true
    return now
  })
  while (!isNew) {
    answers.push(ana.rpc('open', undefined, { as: 'text' }))
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  const now = await over
  const all = await Promise.all(answers)
  expect(new Set(all)).toEqual(new Set([before, now]))
  expect(all).toEqual(all.toSorted())
  await ana.close()
})

it('[S-REL-4] [S-REL-8] finds writes under way: each is whole, and none is done twice', async () => {
  const ana = await signIn()
  const serves = await save()
  const over = serves(ana).then(() => (isNew = true))
  let isNew = false
  const writes: Promise<unknown>[] = []
  while (!isNew && writes.length < 90) {
    const key = String(writes.length).padStart(3, '0')
    writes.push(ana.rpc('save', key))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await over
  // A write that ran again would find its object there.
  await Promise.all(writes)
  const [saves, sealed] = (await ana.rpc('saved')) as [unknown[], unknown[]]
  expect(saves).toHaveLength(writes.length)
  expect(sealed).toEqual(saves)
  await ana.close()
})

it('[S-REL-8] [R-MM-18] finds tickets forming and waiting: both are in the match', async () => {
  const [ana, ben] = [await signIn(), await signIn()]
  const game = { query: `game == "${randomUUID()}"` }
  const properties = { game: game.query.slice(9, -1) }
  const waiting = await ana.matchmaker.find({ ...game, properties })
  const serves = await save()
  // Its hook is under way in one of the two scripts.
  const forming = ben.matchmaker.find({ ...game, properties })
  const now = await serves(ana)
  const [anas, bens] = await Promise.all([waiting.room, (await forming).room])
  expect(anas.id).toBe(bens.id)
  expect([`map ${Number(now) - 1}`, `map ${now}`]).toContain(anas.map)
  await vi.waitFor(() => expect(anas.members.size).toBe(2))
  await Promise.all([ana.close(), ben.close()])
})

it('[S-REL-8] [R-RET-4] finds a seat that waits: the player returns to it', async () => {
  const [ana, ben] = [await signIn(node.line.url), await signIn()]
  const room = await ana.rooms.joinOrCreate(randomUUID())
  const { participant } = ana
  node.line.cut()
  const seen = async () => (await ben.rpc('seen')) as string[]
  await vi.waitFor(async () => expect(await seen()).toContain(`drop ${participant}`))
  const now = await (await save())(ben)
  node.line.mend()
  await vi.waitFor(() => expect(ana.state).toBe('open'))
  expect([ana.participant, ana.rooms.current]).toEqual([participant, room])
  const own = async () => (await seen()).filter((line) => line.includes(` ${participant}`))
  await vi.waitFor(async () =>
    expect(await own()).toEqual([
      `join ${participant}`,
      `drop ${participant}`,
      `return ${participant} in ${now}`,
    ]),
  )
  await Promise.all([ana.close(), ben.close()])
})
