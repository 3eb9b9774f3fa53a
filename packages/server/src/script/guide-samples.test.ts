import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runScriptTests } from '../testing/script-tests.ts'
import { startHarness } from './host.fixture.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/scripting.md'), 'utf8')
const samplesIn = (language: string, part = guide) =>
  [...part.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text]) => text ?? '',
  )

/** Those in TypeScript are compiled by the tests of the documentation. */
describe.each([
  ['lua', 'main.lua', ''],
  ['python', 'main.py', 'import guildhall\n'],
])('[S-LANG-2] the samples of the guide in %s', (language, file, head) => {
  const samples = samplesIn(language)

  it('are there', () => expect(samples.length).toBeGreaterThan(6))

  it.each(samples.map((text) => [text.split('\n')[0], text] as const))(
    'load: %s',
    async (_, text) => {
      const source = text.startsWith(head) ? text : head + text
      const { host } = await startHarness({ files: { [file]: source }, config: { memory_mb: 128 } })
      expect(host.readiness().state).toBe('ready')
    },
  )
})

const chapters = guide.split(/^## /m).map((text) => [text.split('\n')[0], text] as const)

const only = /^<!-- TypeScript only -->\n```ts\n/gm

it.each(chapters)(
  '[S-LANG-2] the guide shows each sample in every language: %s',
  (_title, text) => {
    const counts = { ts: 0, lua: 0, python: 0 }
    for (const language of ['ts', 'lua', 'python'] as const) {
      counts[language] = samplesIn(language, text).length
    }
    counts.ts -= text.match(only)?.length ?? 0
    expect(counts).toEqual({ ts: counts.ts, lua: counts.ts, python: counts.ts })
  },
)

const [, testing = ''] = /^## Test your game\n(.*?)^## /ms.exec(guide) ?? []

it.each([
  ['ts', 'main.ts', '', 1],
  ['lua', 'main.lua', '', 0],
  ['python', 'main.py', 'import guildhall\n', 0],
])(
  '[S-LANG-2] the test of the guide passes with the game in %s',
  async (language, file, head, at) => {
    const [test = ''] = samplesIn('ts', testing)
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-guide-'))
    try {
      writeFileSync(join(folder, 'game.test.ts'), test)
      writeFileSync(join(folder, file), head + samplesIn(language, testing)[at])
      const { code, stdout } = await runScriptTests([folder])
      expect(code, stdout).toBe(0)
      expect(stdout).toContain('a score grows, and is gone after a minute')
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
