import { expect, it } from 'vitest'
import { optionsHash } from './options-hash.ts'

it('[L-AN-1] options are named by the digest of their canonical JSON', () => {
  expect(optionsHash({ send_rate_hz: null, max_windows: 64 })).toBe(
    'a461acb81e8310a747510854d05ccf53f16be41fbb1fb1fdc108816df6142996',
  )
})
