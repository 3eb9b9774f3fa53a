import { SourceMap } from 'node:module'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'
import { BuiltMap } from './built-map.ts'

it('[H-ERR-2] finds in the map of a built file what Node.js finds', () => {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL('./error-journal.ts', import.meta.url))],
    ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm' },
    ...{ sourcemap: 'external', write: false, outdir: 'built' },
  })
  const text = outputFiles?.find(({ path }) => path.endsWith('.map'))?.text ?? ''
  const ours = new BuiltMap(text)
  const theirs = new SourceMap(JSON.parse(text))
  const sources = new Set<string | undefined>()
  for (let line = 0; line < 300; line += 1) {
    for (const column of [0, 3, 20, 500]) {
      const entry = theirs.findEntry(line, column)
      const known = 'originalSource' in entry ? entry : undefined
      const found = ours.find(line, column)
      expect(found).toEqual(known && { source: known.originalSource, line: known.originalLine })
      sources.add(found?.source)
    }
  }
  expect(sources.size).toBeGreaterThan(2)
})
