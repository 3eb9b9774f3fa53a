import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import { createPlayer, type RoomEnd } from '@guildhall/client'
import { afterEach, describe, expect, it } from 'vitest'
import { serveForSdk } from './sdk-node.fixture.ts'

const script = (second: string) => `
const views = {
  create: () => ({ n: 0, does: 'well', deep: { list: [1] } }),
  message: {
    100: (ctx, body, { state }) => {
      state.n += 1
      state.does = new TextDecoder().decode(body)
    },
  },
  rpc: { state: (ctx, body, room) => room.state },
  view(state) {
    if (state.does === 'loops') for (;;);
    if (state.does === 'throws') throw new Error('not today')
    if (state.does === 'gives no JSON') return { n: state.n, bad: undefined }
    if (state.does === 'changes the state') state.deep.list.push(state.n)
    return state
  },
}
guildhall.room('views', views)
guildhall.room('tracked views', { ...views, track: true })
guildhall.room('slow', {
  create: () => ({ n: 0, slow: 0 }),
  message: {
    100: (ctx, body, { state }) => void (state.n += 1),
    101: (ctx, body, { state }) => void (state.slow = ctx.sender),
  },
  view: (state) => state,
  own(state, { participant }) {
    while (participant === state.slow) {}
    return state.n
  },
})
const names = ['__proto__', 'constructor', 'length', 'toString', 'hasOwnProperty', '7', '']
guildhall.room('names', {
  create: () => JSON.parse('{' + names.map((name) => JSON.stringify(name) + ':{"n":0}').join() + '}'),
  message: {
    100(ctx, body, { state }) {
      for (const name of names) Object.getOwnPropertyDescriptor(state, name).value.n += 1
    },
    101: (ctx, body, { state }) => { for (const name of names) delete state[name] },
  },
})
guildhall.room('${second}', {
  create: () => ({ made: '${second}' }),
  restore: (state) => ({ ...state, restored: true }),
})
`

const node = serveForSdk(script('before'), {
  'runtime.hot_reload': 'true',
  'runtime.tick_deadline_ms': '20',
  'runtime.restart_backoff_ms': '10',
})

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function join(name: string, mode: string) {
  const player = createPlayer(node.url)
  const username = `bad-${randomUUID()}`
  await player.signIn.device({ id: username, create: true, username })
  const connection = await player.connect({ transport: 'websocket' })
  closers.push(() => connection.close())
  return { connection, room: await connection.rooms.joinOrCreate(name, { mode }) }
}

async function stateBytes(): Promise<number | undefined> {
  const answer = await fetch(`${node.url}/status`)
  const { metrics } = (await answer.json()) as { metrics: { state_bytes?: number } }
  return metrics.state_bytes
}

describe('rooms with state, of scripts that err', () => {
  it('[R-STA-2] the bytes of all states are a metric', async () => {
    expect(await stateBytes()).toBe(0)
    const { room, connection } = await join('counted', 'names')
    await expect.poll(() => room.state).toBeDefined()
    await expect.poll(stateBytes).toBe(JSON.stringify(room.state).length)
    await connection.close()
    await expect.poll(stateBytes).toBe(0)
  })

  it.each(['loops', 'throws', 'gives no JSON'])(
    '[R-STA-2] [R-STA-4] where a view %s, members keep what they have until it is well',
    async (does) => {
      const ana = await join(does, 'views')
      await expect.poll(() => ana.room.state).toMatchObject({ n: 0 })
      ana.room.send(100, does)
      // The handler's slice holds, and the script lives.
      await expect.poll(() => ana.connection.rpc('state')).toMatchObject({ n: 1, does })
      const ben = await join(does, 'views')
      expect([ana.room.state, ben.room.state]).not.toContainEqual(expect.objectContaining({ does }))
      ben.room.send(100, 'well')
      const well = { n: 2, does: 'well' }
      await expect.poll(() => ana.room.state).toMatchObject(well)
      await expect.poll(() => ben.room.state).toMatchObject(well)
    },
  )

  it('[R-STA-2] where the own part of one never comes, the others have theirs', async () => {
    const [ana, ben] = [await join('slow', 'slow'), await join('slow', 'slow')]
    await expect.poll(() => [ana.room.own, ben.room.own]).toEqual([0, 0])
    ana.room.send(101, 'loop')
    for (let n = 1; n < 4; n += 1) {
      ben.room.send(100, 'on')
      await expect.poll(() => [ben.room.own, ben.room.state]).toMatchObject([n, { n }])
      expect(ana.room.own).toBe(0)
    }
    ben.room.send(101, 'loop')
    await expect.poll(() => ana.room.own).toBe(3)
  })

  it.each(['views', 'tracked views'])(
    '[R-STA-2] a view that returns the state and changes it leaves no two values: %s',
    async (mode) => {
      const { room, connection } = await join(`changes-${mode}`, mode)
      for (let n = 0; n < 3; n += 1) room.send(100, 'changes the state')
      room.send(100, 'well')
      await expect.poll(() => room.state).toMatchObject({ n: 4, does: 'well' })
      expect(await connection.rpc('state')).toEqual(room.state)
    },
  )

  it('[R-STA-2] [R-STA-3] names of the language are followed like others', async () => {
    const { room } = await join('names', 'names')
    const counts = () => Object.values(room.state as object).map(({ n }) => n)
    await expect.poll(() => room.state).toBeDefined()
    expect(Object.keys(room.state as object)).toContain('__proto__')
    room.send(100, 'count')
    await expect.poll(counts).toEqual(Array(7).fill(1))
    expect(Object.getPrototypeOf(room.state)).toBe(Object.prototype)
    room.send(101, 'leave')
    await expect.poll(() => Object.keys(room.state as object)).toEqual([])
  })

  it('[R-STA-6] a reload that renames a definition closes its rooms, and no others', async () => {
    const [gone, kept] = [await join('renamed', 'before'), await join('kept', 'views')]
    await expect.poll(() => [gone.room.state, kept.room.state]).not.toContain(undefined)
    const ends: RoomEnd[] = []
    gone.room.on('closed', (end) => ends.push(end))
    kept.room.on('closed', (end) => ends.push(end))
    await writeFile(joinPath(node.folder, 'main.ts'), script('after'))
    await expect.poll(() => ends).toMatchObject([{ reason: 'server' }])
    kept.room.send(100, 'well')
    await expect.poll(() => kept.room.state).toMatchObject({ n: 1 })
    const after = await join('renamed', 'after')
    await expect.poll(() => after.room.state).toEqual({ made: 'after' })
  })
})
