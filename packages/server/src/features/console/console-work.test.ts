import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { refuse } from '../../kernel/failure.ts'
import { createIds } from '../../kernel/ids.ts'
import { type ConsoleDeps, createConsole } from './console.service.ts'
import { createOwnTokens } from './console.tokens.ts'

const config = {
  username: 'admin',
  password: '$argon2id$of-the-admin',
  viewer_username: 'watcher',
  viewer_password: '$argon2id$of-the-viewer',
  operators: [],
  token_expiry_sec: 60,
}

type Check = (verifier: string, password: string) => Promise<boolean>

/** A console sign-in that records which verifiers it was tried against, and what was counted. */
function openDoor(
  check: Check = async (verifier, password) => password === verifier.slice(-5),
  operators: ConsoleDeps['config']['operators'] = [],
) {
  const clock = createFakeClock()
  const checked: string[] = []
  const taken = { now: 0, most: 0 }
  const console = createConsole({
    tokens: createOwnTokens({
      clock,
      ids: createIds({ clock, nodeId: 'test', bootId: 'bt1-test' }),
      expirySec: config.token_expiry_sec,
    }),
    config: { ...config, operators },
    verifyPassword: (verifier, password) => {
      checked.push(verifier)
      return check(verifier, password)
    },
    admit: async () => {
      taken.now += 1
      taken.most = Math.max(taken.most, taken.now)
      return {
        giveBack: async () => {
          taken.now -= 1
        },
      }
    },
    recordLogin: () => {},
    recordFailedLogin: () => {},
    recordLogout: () => {},
  })
  return { checked, taken, login: console.login }
}

describe('the work of a console login', () => {
  it.each([
    ['right admin', 'admin', 'admin'],
    ['right viewer', 'watcher', 'iewer'],
    ['unknown username', 'nobody', 'admin'],
    ['wrong password', 'admin', 'wrong'],
    ['password of the other', 'watcher', 'admin'],
    ['nothing', '', ''],
  ])('[H-CON-1] is the same for: %s', async (_case, username, password) => {
    const { checked, login } = openDoor()
    await login({ username, password }, '203.0.113.1').catch(() => {})
    expect(checked).toEqual([config.password, config.viewer_password])
  })

  it.each([
    ['ana', '$argon2id$of-ana'],
    ['ben', '$argon2id$of-ben'],
    ['plain', '$argon2id$of-ana'],
    ['nobody', '$argon2id$of-ana'],
  ])('[H-CON-1] [H-OPS-6] is one verifier more among operators, for: %s', async (username, one) => {
    const operators = ['plain', '$argon2id$of-ana', '$argon2id$of-ben'].map((password) => {
      return { username: password.split('-').at(-1) ?? '', password, role: 'viewer' as const }
    })
    for (const password of ['wrong', 'plain', 'f-ana', 'f-ben']) {
      const { checked, login } = openDoor(undefined, operators)
      const attempt = login({ username, password }, '203.0.113.1').catch(() => undefined)
      const isRight = password.endsWith(username) && username !== 'nobody'
      expect((await attempt)?.role).toBe(isRight ? 'viewer' : undefined)
      expect(checked).toEqual([config.password, config.viewer_password, one])
    }
  })

  it('[H-CON-2] counts nothing when the password could not be checked', async () => {
    const full = async () => {
      throw refuse.rateLimited(1, 'the queue of password hashing is full')
    }
    const { taken, login } = openDoor(full)
    const attempt = login({ username: 'admin', password: 'admin' }, '203.0.113.1')
    await expect(attempt).rejects.toMatchObject({ code: 'rate_limited', retryAfterSec: 1 })
    expect(taken.now).toBe(0)
  })

  it('[H-CON-2] is done for one attempt of a source at a time, wrong or right', async () => {
    const { taken, login } = openDoor()
    const bodies = ['admin', 'wrong', 'admin', 'admin'].map((password) => {
      return { username: 'admin', password }
    })
    const attempts = bodies.map((body) => login(body, '203.0.113.1'))
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    // The one that was wrong stays counted, and beside it only the one that is being judged.
    expect(taken).toEqual({ now: 1, most: 2 })
  })

  it('[H-CON-2] does not wait for attempts of other sources', async () => {
    const { login } = openDoor((verifier, password) => {
      return password === 'stuck' ? new Promise(() => {}) : Promise.resolve(password === verifier)
    })
    login({ username: 'admin', password: 'stuck' }, '203.0.113.1').catch(() => {})
    const { password } = config
    const other = await login({ username: 'admin', password }, '203.0.113.2')
    expect(other.role).toBe('admin')
  })
})
