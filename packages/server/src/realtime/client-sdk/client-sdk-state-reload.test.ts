import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { expect, it } from 'vitest'
import { serveForSdk } from './sdk-node.fixture.ts'

const board = (step: number, revision: number) => `
guildhall.room('board', {
  create: () => ({ count: 0, revision: ${revision} }),
  restore: (state) => ({ ...state, revision: ${revision} }),
  message: { 100: (ctx, body, room) => void (room.state.count += ${step}) },
})`

const node = serveForSdk(board(1, 1), { 'runtime.hot_reload': 'true' })

type Board = { count: number; revision: number }

it('[R-STA-6] [S-REL-8] a reload keeps the state, to the last message, and every member', async () => {
  const player = createPlayer(node.url)
  const username = `board-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  const room = await connection.rooms.joinOrCreate('board', { mode: 'board' })
  const seen: Board[] = []
  room.on('state', (state) => seen.push(state as Board))
  await expect.poll(() => seen.length).toBeGreaterThan(0)
  await writeFile(join(node.folder, 'main.ts'), board(1000, 2))
  let sent = 0
  await expect
    .poll(() => {
      room.send(100, 'one')
      sent += 1
      return seen.at(-1)?.revision
    })
    .toBe(2)
  await expect
    .poll(() => {
      const { count = 0 } = seen.at(-1) ?? {}
      return (count % 1000) + Math.floor(count / 1000)
    })
    .toBe(sent)
  expect(connection.state).toBe('open')
  await connection.close()
})
