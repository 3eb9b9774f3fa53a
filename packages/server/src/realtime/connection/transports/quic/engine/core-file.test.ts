import { expect, test } from 'vitest'
import { EngineUnfit, mendEngine, readEngineFile } from './core-file.ts'

test('[R-QU-7] the engine is the release that the patches are for, and they change its bytes', async () => {
  const published = await readEngineFile()
  const mended = mendEngine(published)
  const changed = [...mended].filter((byte, at) => byte !== published[at])
  expect(mended.length).toBe(published.length)
  const factors = Array.from({ length: 4 }, () => [0xf8, 0xbf]).flat()
  expect(changed).toEqual([0xff, 0x7f, 0x81, 0x00, 0x0c, 0x02, 0x01, 0x01, 0x01, ...factors])
})

test('[R-QU-7] a file without the places, or with two of them, is refused', async () => {
  const published = await readEngineFile()
  expect(() => mendEngine(published.slice(0, 1000))).toThrow(EngineUnfit)
  const twice = Buffer.concat([published, published])
  expect(() => mendEngine(twice)).toThrow(EngineUnfit)
})
