import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

it('[L-GEN-2] no text of the section calls spacing what it is not', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => !name.includes('.test.'))
  expect(files.length).toBeGreaterThan(5)
  for (const file of files) {
    const text = readFileSync(join(import.meta.dirname, file), 'utf8')
    expect(text, file).not.toMatch(/\bpings?\b|latency|\bloss\b|\blost\b|round.?trip|\brtt\b/i)
  }
})
