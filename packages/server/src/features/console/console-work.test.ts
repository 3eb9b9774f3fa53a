import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { createIds } from '../../kernel/ids.ts'
import { createConsole } from './console.service.ts'

const config = {
  username: 'admin',
  password: '$argon2id$of-the-admin',
  viewer_username: 'watcher',
  viewer_password: '$argon2id$of-the-viewer',
  token_expiry_sec: 60,
}

/** A door whose lock records which verifiers it was tried against. */
function openDoor() {
  const clock = createFakeClock()
  const checked: string[] = []
  const door = createConsole({
    clock,
    ids: createIds({ clock, nodeId: 'test', bootId: 'bt1-test' }),
    config,
    verifyPassword: async (verifier, password) => {
      checked.push(verifier)
      return password === verifier.slice(-5)
    },
    admit: async () => ({ giveBack: async () => {} }),
    recordLogin: () => {},
    recordFailedLogin: () => {},
  })
  return { checked, login: door.login }
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
})
