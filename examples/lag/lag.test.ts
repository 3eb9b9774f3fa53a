import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { whoseLag } from './lag.ts'

it('[L-SRV-1] [R-SDK-28] [L-START-6] three bots, and which of them has a bad way', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-lag-example-'))
  const node = await startNodeProcess({
    'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
    'runtime.tick_hz': '20',
    'database.url': `sqlite:${join(folder, 'lag.db')}`,
    'lag_diagnostics.enabled': 'true',
    'lag_diagnostics.raw_root': folder,
  })
  const lines: string[] = []
  try {
    await whoseLag(node.url, { print: (line) => lines.push(line) })
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  expect(lines.at(-1)).toBe('it is the way to ben, not the node')
}, 120_000)
