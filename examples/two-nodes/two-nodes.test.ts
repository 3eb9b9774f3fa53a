import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const example = fileURLToPath(new URL('./two-nodes.ts', import.meta.url))
const run = promisify(execFile)

it('[R-CL-3] [R-CL-4] [R-CL-13] two nodes play together, and one goes on alone', async () => {
  // Without an address it starts a PostgreSQL of its own, as for somebody who has none.
  const { GUILDHALL_DATABASE__URL: _, ...env } = process.env
  const { stdout } = await run(process.execPath, [example], { env })
  expect(stdout.trimEnd().split('\n')).toEqual([
    'ana on the first node and ben on the second are in one room',
    'both hear each other',
    'the first node was killed: ben is out of its room, and still connected',
    'the name is free again, and play goes on',
  ])
}, 120_000)
