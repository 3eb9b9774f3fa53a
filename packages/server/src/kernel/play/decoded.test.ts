import { WireError } from '@guildhall/contract'
import { expect, test } from 'vitest'
import { decoded } from './decoded.ts'

test('[R-LIM-3] what clients break costs no stack, and other errors find theirs again', () => {
  const frames = Error.stackTraceLimit
  const thrown: Error[] = []
  const breaks = (error: () => Error) => ({
    decode(): never {
      const made = error()
      thrown.push(made)
      throw made
    },
  })
  const body = new Uint8Array()
  expect(
    decoded(
      breaks(() => new WireError('malformed_body', 'x')),
      body,
    ),
  ).toBeUndefined()
  expect(thrown[0]?.stack?.split('\n')).toHaveLength(1)
  expect(() =>
    decoded(
      breaks(() => new RangeError('a bug')),
      body,
    ),
  ).toThrow('a bug')
  expect(thrown.at(-1)?.stack).toContain('decoded.test.ts')
  expect(Error.stackTraceLimit).toBe(frames)
})
