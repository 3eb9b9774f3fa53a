import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { operatorsDay } from './day.ts'

it.each(['in memory', 'in a file'])('an operator has two whole days, %s', async (kept) => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-day-'))
  const url = kept === 'in a file' ? `sqlite:${join(folder, 'day.db')}` : 'memory:'
  const node = await startNodeProcess({ 'database.url': url })
  const lines: string[] = []
  try {
    await operatorsDay(node.url, { print: (line) => lines.push(line) })
    await operatorsDay(node.url, {})
  } finally {
    await node.stop()
    rmSync(folder, { recursive: true })
  }
  expect(lines.at(-3)).toMatch(/it reports \d+ changes/)
  expect(lines.at(-1)).toBe('  the token has ended')
})
