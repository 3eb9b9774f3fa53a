import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runScriptTests } from '../testing/script-tests.ts'
import { startHarness } from './host.fixture.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/scripting.md'), 'utf8')
const samplesIn = (language: string, part = guide) =>
  [...part.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, text]) => text ?? '',
  )

/** What a sample registers, and a script may only once. */
const registered = (text: string) =>
  [...text.matchAll(/guildhall\.((?:on|register)_\w+|room|schedule)\(?["'\d\w]*/g)].map(
    ([name]) => name,
  )

/** As few scripts as hold all samples: a start of a script is what takes time here. */
function scriptsOf(samples: readonly string[]): string[][] {
  const scripts: string[][] = []
  for (const text of samples) {
    const names = registered(text)
    const fitting = scripts.find(
      (texts) => !texts.flatMap(registered).some((name) => names.includes(name)),
    )
    if (fitting === undefined) scripts.push([text])
    else fitting.push(text)
  }
  return scripts
}

/** Those in TypeScript are compiled by the tests of the documentation. */
it.each([
  ['lua', 'lua', (name: string) => `require('${name}')`, ''],
  ['python', 'py', (name: string) => `import ${name}`, 'import guildhall\n'],
] as const)(
  '[S-LANG-2] the samples of the guide in %s load',
  async (language, ending, of, head) => {
    const samples = samplesIn(language)
    expect(samples.length).toBeGreaterThan(6)
    for (const texts of scriptsOf(samples)) {
      // Each is a file by itself, which an error names.
      const files: { [path: string]: string } = {}
      for (const [index, text] of texts.entries()) {
        files[`sample_${index}.${ending}`] = text.startsWith(head) ? text : head + text
      }
      const names = texts.map((_, index) => of(`sample_${index}`))
      files[`main.${ending}`] = `${names.join('\n')}\n`
      const { host } = await startHarness({ files, config: { memory_mb: 128 } })
      expect(host.readiness().state).toBe('ready')
      await host.stop()
    }
  },
)

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
