import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startHarness } from './host.fixture.ts'

const guide = readFileSync(join(import.meta.dirname, '../../../../docs/scripting.md'), 'utf8')
const samplesIn = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
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
