import { expect, test } from 'vitest'
import { EngineUnfit, mendEngine, readEngineFile } from './core-file.ts'

test('[R-QU-7] the engine is the release that the patches are for, and they change its bytes', async () => {
  const published = await readEngineFile()
  const mended = mendEngine(published)
  const changed = [...mended].filter((byte, at) => byte !== published[at])
  expect(mended.length).toBe(published.length)
  const factors = [0xf8, 0xbf, 0xf8, 0xbf]
  const sizes = Array.from({ length: 5 }, () => [0x80, 0x90, 0x00]).flat()
  const begin = [0xff, 0x7f, 0x81, 0x00, 0x03, 0xa0, 0x00, ...sizes, 0x0c, 0x02, 0x01, 0x01, 0x01]
  expect(changed.slice(0, begin.length + 4)).toEqual([...begin, ...factors])
  expect(changed.slice(-4)).toEqual(factors)
  // The rest is the place where a buffer comes back.
  expect(changed.length).toBeLessThanOrEqual(begin.length + 54 + 2 * factors.length)
})

test('[R-QU-7] a file without the places, or with two of them, is refused', async () => {
  const published = await readEngineFile()
  expect(() => mendEngine(published.slice(0, 1000))).toThrow(EngineUnfit)
  const twice = Buffer.concat([published, published])
  expect(() => mendEngine(twice)).toThrow(EngineUnfit)
})
