import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

/** What a player of a browser game loads: `createPlayer` with all it reaches. */
async function bundle() {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: "export { createPlayer } from './index.ts'",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
    absWorkingDir: join(import.meta.dirname, '../../..'),
  })
  return {
    code: outputFiles[0]?.contents ?? new Uint8Array(),
    inputs: Object.keys(metafile.inputs),
  }
}

it('[R-SDK-1] the player in a bundle has at most 20,000 bytes gzip and no schema library', async () => {
  const { code, inputs } = await bundle()
  expect(code.length).toBeGreaterThan(10_000)
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(20_000)
  const packages = new Set(inputs.map((path) => path.replace(/^packages\/(\w+)\/src\/.*/, '$1')))
  expect([...packages].filter((name) => name !== '<stdin>').toSorted()).toEqual([
    'client',
    'contract',
  ])
  expect(inputs.filter((path) => path.includes('console'))).toEqual([])
})
