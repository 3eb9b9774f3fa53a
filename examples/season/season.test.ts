import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { season } from './season.ts'

// Longer than the minute that a season lasts.
it('[H-TRN-5] [H-TRN-6] a season begins, is played, is reset and has its results', async () => {
  const node = await startNodeProcess({
    'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
    'leaderboards.execute_reset_schedules': 'true',
  })
  const lines: string[] = []
  try {
    await season(node.url, { print: (line) => lines.push(line) })
  } finally {
    await node.stop()
  }
  expect(lines.at(-1)).toBe('the board is gone, and the results stay')
}, 120_000)
