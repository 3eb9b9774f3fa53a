import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { expect, it, onTestFinished } from 'vitest'
import { startNodeProcess } from '../../testing/node-process.ts'

it('[S-REL-8] [S-HK-12] on_unload of a node that stops runs before connections close', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-unload-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'main.mjs'),
    `guildhall.on_unload(({ reason }) => guildhall.broadcast(100, reason, false, { scope: 'all' }))`,
  )
  const node = await startNodeProcess({ 'runtime.scripts_dir': folder })
  onTestFinished(() => void node.kill())
  const player = createPlayer(node.url)
  await player.signIn.device({ id: 'unload', create: true, username: 'unload' })
  const connection = await player.connect()
  const happened: string[] = []
  connection.on('message', (message) => happened.push(message.text()))
  connection.on('state', ({ state }) => happened.push(state))
  await node.stop()
  await connection.close()
  expect(happened[0]).toBe('stop')
  expect(happened.length).toBeGreaterThan(1)
})
