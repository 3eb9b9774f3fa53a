import { createPlayer } from '@guildhall/client'
import { expect, it } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'

const closed = 'game script unavailable'

it('[S-GATE-2] [S-GATE-3] a node without its script refuses what needs it, and serves the rest', async () => {
  const node = await startNodeProcess({
    'runtime.require_script': 'true',
    'runtime.scripts_dir': '/nowhere',
  })
  try {
    const player = createPlayer(node.url)
    await player.signIn.device({ id: 'gate', create: true, username: 'gate' })
    const connection = await player.connect()
    await expect(connection.rpc('anything')).rejects.toThrow(closed)
    await expect(connection.rooms.create('den')).rejects.toThrow(closed)
    await expect(connection.rooms.list()).rejects.toThrow(closed)
    await expect(connection.matchmaker.find()).rejects.toThrow(closed)

    expect(connection.state).toBe('open')
    expect((await connection.party.create()).members).toHaveLength(1)
    expect((await player.account.get()).username).toBe('gate')
    const call = createCaller(node.url)
    const operator = await openOperator({ call })
    expect((await operator.send('GET', '/matches')).status).toBe(503)
    expect((await operator.send('GET', '/matchlogs')).status).toBe(200)
    expect((await operator.send('GET', '/accounts')).status).toBe(200)
    expect((await call('GET', '/health/ready')).status).toBe(503)
    await connection.close()
  } finally {
    await node.stop()
  }
})
