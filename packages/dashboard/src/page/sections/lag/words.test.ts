import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const packages = join(import.meta.dirname, '../../../../../..', 'packages')

/** Where people read of lag diagnostics, but for the documentation, which says what it is not. */
const read: readonly [folder: string, file: RegExp][] = [
  ['dashboard/src/page/sections/lag', /\.tsx?$/],
  ['dashboard/src/model', /^lag.*\.ts$/],
  ['contract/src/routes', /^lag\.ts$/],
  ['contract/src/script', /^lag\.ts$/],
  ['client/src', /^lag\.ts$/],
  ['client/src/lag', /\.ts$/],
]

it('[L-GEN-2] no text calls spacing what it is not', () => {
  for (const [folder, file] of read) {
    const names = readdirSync(join(packages, folder)).filter((name) => file.test(name))
    const texts = names.filter((name) => !name.includes('.test.'))
    expect(texts.length, folder).toBeGreaterThan(0)
    for (const name of texts) {
      const text = readFileSync(join(packages, folder, name), 'utf8')
      expect(text, `${folder}/${name}`).not.toMatch(wrong)
    }
  }
})

const wrong = /\bpings?\b|latency|\bloss\b|\blost\b|round.?trip|\brtt\b|one.?way|\bdelay/i
