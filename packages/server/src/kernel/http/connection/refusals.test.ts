import { type ErrorCode, errorTable } from '@guildhall/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Failure, refuse } from '../../failure.ts'
import { refusalOf, unparsableAnswer } from './refusals.ts'

const codes: readonly ErrorCode[] = Object.keys(errorTable).filter(
  (code): code is ErrorCode => code in errorTable,
)
const messageOf = (error: unknown): string => JSON.parse(refusalOf(error).body).message

/** As the specification has it; 400 and 409 may say more. */
const messages: readonly (readonly [ErrorCode, number, string])[] = [
  ['invalid_request', 400, 'invalid request'],
  ['authentication_failed', 401, 'authentication failed'],
  ['forbidden', 403, 'forbidden'],
  ['not_found', 404, 'not found'],
  ['method_not_allowed', 405, 'method not allowed'],
  ['conflict', 409, 'conflict'],
  ['rate_limited', 429, 'too many requests'],
  ['internal_error', 500, 'internal server error'],
  ['not_implemented', 501, 'not implemented'],
  ['runtime_unavailable', 503, 'game script unavailable'],
  ['deadline_exceeded', 504, 'deadline exceeded'],
]

describe('refusalOf', () => {
  it.each(messages)('[H-GEN-2] [H-GEN-3] answers %s with %d and "%s"', (code, status, message) => {
    const refusal = refusalOf(new Failure(code, { reason: 'internal' }))
    expect(refusal.status).toBe(status)
    expect(JSON.parse(refusal.body)).toEqual({ code, message })
  })

  it('[H-GEN-2] knows no other code', () => {
    expect(codes.toSorted()).toEqual(messages.map(([code]) => code).toSorted())
  })

  it('[H-GEN-3] shows a text for 400 and 409 only', () => {
    for (const code of codes) {
      const seen = messageOf(new Failure(code, { reason: 'internal', text: 'the rule' }))
      expect(seen === 'the rule').toBe(code === 'invalid_request' || code === 'conflict')
    }
  })

  it.each([new Error('internal'), 'internal', undefined, null, { code: 'forbidden', status: 403 }])(
    '[H-GEN-1] answers everything else with the generic 500: %s',
    (thrown) => {
      const { status, body, retryAfterSec } = refusalOf(thrown)
      expect([status, retryAfterSec]).toEqual([500, undefined])
      expect(JSON.parse(body)).toEqual({ code: 'internal_error', message: 'internal server error' })
    },
  )

  it('[H-GEN-32] says when to come back with every 429, at least a second, and with nothing else', () => {
    expect(refusalOf(refuse.rateLimited(7, '')).retryAfterSec).toBe(7)
    expect(refusalOf(refuse.rateLimited(0, '')).retryAfterSec).toBe(1)
    expect(refusalOf(refuse.rateLimited(1.2, '')).retryAfterSec).toBe(2)
    expect(refusalOf(new Failure('rate_limited', { reason: '' })).retryAfterSec).toBe(1)
    expect(
      refusalOf(new Failure('conflict', { reason: '', retryAfterSec: 7 })).retryAfterSec,
    ).toBeUndefined()
  })

  it('[H-GEN-3] cuts a text at a character, within 200 bytes', () => {
    expect(messageOf(refuse.invalid('x'.repeat(200)))).toBe('x'.repeat(200))
    expect(messageOf(refuse.invalid('x'.repeat(201)))).toBe('x'.repeat(200))
    expect(messageOf(refuse.conflict(`${'x'.repeat(199)}é`))).toBe('x'.repeat(199))
    expect(messageOf(refuse.conflict(`${'x'.repeat(197)}😀`))).toBe('x'.repeat(197))
    expect(messageOf(refuse.conflict(`${'x'.repeat(196)}😀`))).toBe(`${'x'.repeat(196)}😀`)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 60, maxLength: 120 }), (text) => {
        const seen = messageOf(refuse.invalid(text))
        expect(Buffer.byteLength(seen)).toBeLessThanOrEqual(200)
        expect(text.startsWith(seen)).toBe(true)
        const next = [...text.slice(seen.length)][0] ?? ''
        expect(next === '' || Buffer.byteLength(seen + next) > 200).toBe(true)
      }),
    )
  })
})

it('[H-GEN-5] answers bytes that are no request with a whole answer that closes', () => {
  const [head = '', body = ''] = unparsableAnswer('id-1', { 'x-extra': 'y' }).split('\r\n\r\n')
  expect(head.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request')
  expect(head).toMatch(/\r\nx-request-id: id-1\r\n/)
  expect(head).toMatch(/\r\nx-extra: y\r\n/)
  expect(head).toMatch(/\r\nconnection: close$/)
  expect(head).toMatch(new RegExp(`\r\ncontent-length: ${body.length}\r\n`))
  expect(JSON.parse(body)).toEqual({ code: 'invalid_request', message: 'invalid request' })
})
