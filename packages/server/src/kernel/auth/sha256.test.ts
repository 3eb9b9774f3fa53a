import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sha256 } from './sha256.ts'

it('digests text as UTF-8, and bytes as they are', () => {
  const data = fc.oneof(
    fc.string({ unit: 'binary', size: 'max', maxLength: 300 }),
    fc.uint8Array({ size: 'max', maxLength: 300 }),
  )
  fc.assert(
    fc.property(data, (each) => {
      expect(sha256(each)).toEqual(createHash('sha256').update(each).digest())
    }),
  )
})
