import { expect, test } from 'vitest'
import { EngineUnfit, mendEngine, readEngineFile } from './core-file.ts'

test('[R-QU-7] the engine is the release that the patches are for, and they change its bytes', async () => {
  const published = await readEngineFile()
  const mended = mendEngine(published)
  const changed = [...mended].filter((byte, at) => byte !== published[at])
  expect(mended.length).toBe(published.length)
  // Streams, packets on their way, the factor and datagrams, wherever a configuration is made.
  const config = [0xe4, 0x00, 0x8a, 0x00, 0xf8, 0xbf, 0x82]
  const configs = [...config, ...config]
  const sizes = Array.from({ length: 5 }, () => [0x80, 0x90, 0x00]).flat()
  const begin = [
    0xff,
    0x7f,
    0x81,
    0x00,
    0xe0,
    0x00,
    0x88,
    0x00,
    ...sizes,
    0x0c,
    0x02,
    0x01,
    0x01,
    0x01,
  ]
  const lengths = Array.from({ length: 6 }, () => [0x90, 0x00]).flat()
  const front = [...begin, ...configs, ...lengths]
  expect(changed.slice(0, front.length)).toEqual(front)
  expect(changed.slice(-configs.length)).toEqual(configs)
  // The rest is the place where a buffer comes back.
  expect(changed.length).toBeLessThanOrEqual(front.length + 54 + configs.length)
})

test('[R-QU-7] a file that has other bytes in a place is refused', async () => {
  const published = await readEngineFile()
  expect(() => mendEngine(published.slice(0, 1000))).toThrow(EngineUnfit)
  expect(() => mendEngine(mendEngine(published))).toThrow(EngineUnfit)
})
