import { expect, it } from 'vitest'
import { scriptFiles } from './scripts.ts'

function scriptOf(line: string): string {
  const text = `(function(){${line}\nexport{behind}\n})\n`
  const how = { root: 'a', before: [], runner: 'runner' }
  return scriptFiles([{ name: 'a.js', text }], how)[0]?.text ?? ''
}

it('[H-ERR-2] leaves what stands behind an import where the map has it', () => {
  const line = 'await import("./late.mjs");behind()'
  const script = scriptOf(line)
  expect(script).not.toContain('import')
  expect(script.split('\n')[0]).toMatch(/;behind\(\)$/)
  expect(script.indexOf('behind()')).toBe(`(function(){${line}`.indexOf('behind()'))
})

it.each([
  ['imports what was not built', 'await import("zod")'],
  ['has more than ASCII, which it is read as', '/ä/.test(text)'],
])('refuses a script that %s', (_what, line) => {
  expect(() => scriptOf(line)).toThrow('a.js')
})
