import { expect, it } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { playOnTwoNodes } from './two-nodes.ts'

it('[R-CL-3] [R-CL-4] [R-CL-13] two nodes play together, and one goes on alone', async () => {
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  const store = await postgres?.open()
  if (store === undefined) throw new Error('there is no PostgreSQL')
  const lines: string[] = []
  try {
    await playOnTwoNodes(store.url, (line) => lines.push(line))
  } finally {
    await store.dispose()
  }
  expect(lines).toEqual([
    'ana on the first node and ben on the second are in one room',
    'both hear each other',
    'the first node was killed: ben is out of its room, and still connected',
    'the name is free again, and play goes on',
  ])
}, 120_000)
