import { errorTable } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { Failure, refuse } from './failure.ts'

describe('a refusal', () => {
  it('shows the caller the text of 400 and 409 alone', () => {
    const refusals = [
      refuse.invalid('display_name is too long'),
      refuse.conflict('username is taken'),
      refuse.unauthenticated('unknown token'),
      refuse.forbidden('a viewer cannot write'),
      refuse.notFound('no such group'),
      refuse.rateLimited(3, 'too many logins'),
      refuse.runtimeUnavailable('the script is reloading'),
      refuse.internal('the claim was lost'),
    ]
    const shown = refusals.map(({ code, text }) => [errorTable[code].status, text])
    expect(shown).toEqual([
      [400, 'display_name is too long'],
      [409, 'username is taken'],
      [401, undefined],
      [403, undefined],
      [404, undefined],
      [429, undefined],
      [503, undefined],
      [500, undefined],
    ])
    for (const { code, text } of refusals) {
      if (text !== undefined) expect(errorTable[code].text).toBe('open')
    }
  })

  it('logs why, and when to come back', () => {
    const refusal = refuse.rateLimited(3, 'too many logins')
    expect(refusal).toBeInstanceOf(Failure)
    expect(refusal).toMatchObject({ message: 'too many logins', retryAfterSec: 3 })
    expect(refuse.notFound('no such group').retryAfterSec).toBeUndefined()
  })
})
