import { expect, it } from 'vitest'
import { reasonOf } from './reason.ts'

const refused = new Error('connect ECONNREFUSED 127.0.0.1:5432')

it.each([
  ['an error', refused, 'connect ECONNREFUSED 127.0.0.1:5432'],
  ['its cause', new Error('not reached', { cause: refused }), `not reached: ${refused.message}`],
  [
    'what two say only once',
    new Error('failed', { cause: new Error('failed', { cause: refused }) }),
    `failed: ${refused.message}`,
  ],
  [
    'every address of a name',
    new Error('not reached', { cause: new AggregateError([new Error('by ::1'), refused]) }),
    `not reached: by ::1, ${refused.message}`,
  ],
  ['what is no error', new Error('failed', { cause: 7 }), 'failed: 7'],
])('gives %s', (_of, error, reason) => {
  expect(reasonOf(error)).toBe(reason)
})

it('comes to an end when an error causes itself', () => {
  const error = new Error('failed')
  error.cause = error
  expect(reasonOf(error)).toBe('failed')
})
