import { accountsApi, signInApi } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '../failure.ts'
import { validate, validateJson } from './validate.ts'

const signIn = signInApi.device.body

/** The text of the refusal, or undefined when the text is taken. */
function refusal(schema: z.ZodType, text: string): string | undefined {
  try {
    validateJson(schema, text)
    return undefined
  } catch (error) {
    if (error instanceof Failure && error.code === 'invalid_request') return error.text
    throw error
  }
}

describe('messages', () => {
  it.each([
    ['{}', 'id must be a string'],
    ['{"id":1}', 'id must be a string'],
    ['{"id":null}', 'id must be a string'],
    ['{"id":""}', 'id must be 1..128 bytes, not blank and without control characters'],
    ['{"id":"a","create":1}', 'create must be a boolean'],
    ['{"id":"a","create":true}', 'username is required when create is true'],
    ['{"id":"a","metadata":[]}', 'metadata must be an object'],
    ['{"id":"a","nope":1}', 'the request has an unknown field'],
    ['{"id":"a","id":"b"}', 'id is repeated'],
    ['[]', 'the request must be an object'],
    ['{', 'the body is not valid JSON'],
    ['{"id":"\\ud800"}', 'the body has an unpaired surrogate'],
  ])('[H-GEN-3] name the field or the rule: %s', (text, message) => {
    expect(refusal(signIn, text)).toBe(message)
  })

  it('[H-GEN-3] name places within lists', () => {
    const { body } = accountsApi.lookup
    expect(refusal(body, '{"user_ids":["a",""]}')).toMatch(/^user_ids\[1\] /)
    expect(refusal(body, '{"user_ids":["a",1]}')).toBe('user_ids[1] must be a string')
    expect(refusal(body, '{}')).toBe('the request needs 1..100 keys in total')
  })

  it('[H-GEN-3] name bounds and choices of the rule, never what was sent', () => {
    const schema = z.strictObject({
      n: z.int().min(2).max(5).optional(),
      s: z.enum(['asc', 'desc']).optional(),
    })
    expect(refusal(schema, '{"n":1}')).toBe('n must be at least 2')
    expect(refusal(schema, '{"n":6}')).toBe('n must be at most 5')
    expect(refusal(schema, '{"n":2.5}')).toBe('n must be an integer')
    expect(refusal(schema, '{"n":9007199254740993}')).toMatch(/^n /)
    expect(refusal(schema, '{"s":"SECRET"}')).toBe('s must be one of asc, desc')
  })

  it('[H-GEN-3] never hold a value or an unknown name of the request', () => {
    const marker = 'S3CRETq'
    const leaf = fc.constantFrom(marker, 7_777_777, 7.777_777, null, true, [marker], {
      [marker]: marker,
    })
    const names = [
      'id',
      'email',
      'password',
      'username',
      'display_name',
      'create',
      'metadata',
      'user_ids',
      'usernames',
      marker,
    ]
    const value = fc.dictionary(
      fc.constantFrom(...names),
      fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })),
    )
    const bodies = [signIn, signInApi.email.body, accountsApi.patch.body, accountsApi.lookup.body]
    fc.assert(
      fc.property(value, fc.constantFrom(...bodies), fc.boolean(), (sent, body, twice) => {
        const text = JSON.stringify(sent)
        const doubled = `${text.slice(0, -1)}${text === '{}' ? '' : ','}${text.slice(1)}`
        expect(refusal(body, twice ? doubled : text) ?? '').not.toMatch(/S3CRETq|7.?777/)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('what the schema does not see', () => {
  const schema = z.strictObject({
    count: z.int().optional(),
    list: z.array(z.strictObject({ n: z.int().nullish() })).optional(),
    free: z
      .custom<object>((value) => typeof value === 'object')
      .meta({ free: true })
      .optional(),
  })

  it.each(['{"count":1.0}', '{"count":1e0}', '{"list":[{"n":1},{"n":2.0}]}'])(
    '[H-GEN-15] refuses the declared integer of %s for its form',
    (text) => {
      expect(refusal(schema, text)).toMatch(/ must be an integer$/)
    },
  )

  it.each(['{"list":[{"n":1,"n":1}]}', '{"free":{},"free":{}}'])(
    '[H-GEN-13] refuses the repeated declared name of %s',
    (text) => {
      expect(refusal(schema, text)).toMatch(/ is repeated$/)
    },
  )

  it('[H-GEN-13] [H-GEN-16] leaves free objects alone, and the last of a name wins', () => {
    const text = '{"free":{"a":1.0,"a":2e0,"b":{"a":1,"a":9007199254740993}}}'
    expect(validateJson(schema, text)).toEqual({ free: { a: 2, b: { a: 9007199254740993n } } })
  })

  it('[H-GEN-13] refuses __proto__ and constructor where they are not declared', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(refusal(schema, `{"${name}":1}`)).toBe('the request has an unknown field')
      expect(refusal(schema, `{"list":[{"${name}":{"n":1}}]}`)).toBe('list[0] has an unknown field')
    }
  })
})

describe('null', () => {
  it('[H-GEN-14] is absent for an optional field and refused for a needed one', () => {
    const text = '{"id":"a","create":null,"username":null,"display_name":null,"metadata":null}'
    expect(validateJson(signIn, text)).toEqual({ id: 'a' })
    expect(refusal(signIn, '{"id":null}')).toBe('id must be a string')
  })
})

it('gives back what the schema makes of a value', () => {
  expect(
    validate(z.strictObject({ a: z.string().transform((text) => text.length) }), { a: 'abc' }),
  ).toEqual({ a: 3 })
})
