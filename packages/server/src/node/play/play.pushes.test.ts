import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer, type StateEvent } from '@guildhall/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'

const script = `
guildhall.on_rpc('own', (ctx) =>
  guildhall.notifications.send({ user_id: ctx.user_id, subject: 'own', push: true }))
guildhall.on_rpc('all', () => guildhall.notifications.send({ subject: 'all', push: true }))
guildhall.on_rpc('typing', (ctx) => guildhall.chat.push([ctx.user_id, ctx.user_id, 'nobody'], {
  type: 'typing', channel_id: 'lobby', presence: { presence_id: 'p', user_id: ctx.user_id },
  expires_at: guildhall.now_ms() + 5000,
}))
guildhall.on_rpc('ban me', async (ctx) => {
  await guildhall.accounts.ban(ctx.user_id)
  await guildhall.storage_write(null, 'bans', ctx.username, {})
})
guildhall.on_rpc('banned', async () => (await guildhall.storage_read(null, 'bans', 'ann')) !== null)
`

describe('a script that pushes and bans', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-pushes-'))
  let node: NodeProcess
  beforeAll(async () => {
    writeFileSync(join(folder, 'main.js'), script)
    node = await startNodeProcess({ 'runtime.scripts_dir': folder })
  })
  afterAll(async () => {
    await node.stop()
    rmSync(folder, { recursive: true })
  })

  /** A connection, and what comes over it. */
  async function enter(name: string | null) {
    const player = createPlayer(node.url)
    if (name !== null) await player.signIn.device({ id: `d-${name}`, create: true, username: name })
    const connection = await player.connect(name === null ? { as: 'guest' } : {})
    const came: string[] = []
    const states: StateEvent[] = []
    connection.on('notification', ({ subject }) => came.push(String(subject)))
    connection.on('chat', ({ type }) => came.push(String(type)))
    connection.on('state', (change) => states.push(change))
    onTestFinished(() => connection.close())
    return { came, states, rpc: (method: string) => connection.rpc(method) }
  }

  it('[R-PSH-2] [R-PSH-3] [S-API-15] [S-API-16] reaches every connection of an account, each once', async () => {
    const [ann, again, bob] = [await enter('ann'), await enter('ann'), await enter('bob')]
    const guest = await enter(null)
    for (const method of ['own', 'typing', 'all']) await ann.rpc(method)
    await expect.poll(() => again.came).toEqual(['own', 'typing', 'all'])
    await expect.poll(() => bob.came).toEqual(['all'])
    // A guest has no account; what was sent before its own reply has come.
    await guest.rpc('banned')
    expect([ann.came, guest.came]).toEqual([['own', 'typing', 'all'], []])
  })

  it('[S-API-17] [R-REV-1] closes the connections of a caller that it bans, and goes on', async () => {
    const [ann, again, bob] = [await enter('ann'), await enter('ann'), await enter('bob')]
    await expect(ann.rpc('ban me')).rejects.toMatchObject({ code: 'connection_lost' })
    const closed = { state: 'closed', reason: 'session_revoked', closeCode: 4004 }
    await expect.poll(() => [ann.states, again.states]).toEqual([[closed], [closed]])
    await expect.poll(() => bob.rpc('banned')).toBe(true)
    expect(bob.states).toEqual([])
    await expect(enter('ann')).rejects.toMatchObject({ status: 401 })
  })
})
