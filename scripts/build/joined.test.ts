import { expect, it } from 'vitest'
import { joinFiles } from './joined.ts'
import type { BuiltFile } from './scripts.ts'

const banner = '/* the first line */'

/** As esbuild writes it. */
function built(name: string, ...lines: string[]): BuiltFile[] {
  const text = [banner, ...lines, `//# sourceMappingURL=${name}.map`, ''].join('\n')
  const map = JSON.stringify({ version: 3, sources: [], mappings: '' })
  return [
    { name, text },
    { name: `${name}.map`, text: map },
  ]
}

it('keeps what a joined file has for others, by its names and for what it does alone', async () => {
  const files = [
    ...built('main.mjs', 'import {', '  n', '} from "./chunk-ONE.mjs";', 'console.log(n);'),
    ...built('other.mjs', 'import {', '  n as m', '} from "./chunk-TWO.mjs";', 'console.log(m);'),
    ...built('third.mjs', 'import "./chunk-SIX.mjs";'),
    ...built('chunk-ONE.mjs', 'var n = "one";', 'export {', '  n', '};'),
    ...built('chunk-TWO.mjs', 'var n = "two";', 'export {', '  n', '};'),
    ...built('chunk-SIX.mjs', 'console.log("six");'),
  ]
  const settings = { bundle: true, format: 'esm', sourcemap: true, write: false } as const
  const joined = await joinFiles(
    files,
    { joined: ['main'], rest: 'main' },
    { ...settings, outdir: import.meta.dirname, banner: { js: banner } },
  )
  const texts = new Map(joined.map(({ name, text }) => [name, text]))
  expect([...texts.keys()].filter((name) => !name.endsWith('.map')).sort()).toEqual([
    'main.mjs',
    'other.mjs',
    'third.mjs',
  ])
  const main = texts.get('main.mjs') ?? ''
  for (const part of ['"one"', '"two"', 'console.log("six")']) expect(main).toContain(part)
  expect(main.split(banner)).toHaveLength(2)
  expect(texts.get('third.mjs')).toContain('import "./main.mjs";')
  const shared = /\bn(\d*) as (n_\d+)\b/.exec(main)?.[2]
  expect(texts.get('other.mjs')).toContain(`${shared} as m`)
})
