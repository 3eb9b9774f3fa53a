import assert from 'node:assert/strict'
import { createConsoleClient } from '@guildhall/client/console'
import { runExample } from '../run-example.ts'
import { runCommunity } from './community.ts'
import { type Day, type Expected, refused } from './diary.ts'
import { runGameData } from './game-data.ts'
import { runMachines } from './machines.ts'
import { runPeople } from './people.ts'
import { runShop } from './shop.ts'

/**
 * An operator's day at a running node: every step asserts its answer, and in the end the audit
 * trail must report all of them and nothing else.
 */
export async function operatorsDay(
  baseUrl: string,
  options: { operator?: { username: string; password: string }; print?: (line: string) => void },
): Promise<void> {
  const { operator = { username: 'admin', password: 'password' }, print = () => {} } = options
  const expected: Expected[] = []
  const run = crypto.randomUUID().slice(0, 8)
  const client = createConsoleClient(baseUrl)
  const day: Day = {
    baseUrl,
    client,
    own: (name) => `${name}-${run}`,
    say: (line) => print(`  ${line}`),
    expect: (seen) => void expected.push({ actor: operator.username, ...seen }),
  }
  const parts: [title: string, part: (day: Day) => Promise<void>][] = [
    ['Signing in', (day) => signIn(day, operator)],
    ['Accounts, wallets and friends', runPeople],
    ['Groups, chat and notifications', runCommunity],
    ['Storage, leaderboards and tournaments', runGameData],
    ['Purchases', runShop],
    ['Machines', runMachines],
    ['The audit trail', (day) => readTrail(day, expected)],
    ['Signing out', signOut],
  ]
  for (const [title, part] of parts) {
    print(title)
    await part(day)
  }
}

async function signIn({ client, own, say, expect }: Day, operator: SignIn): Promise<void> {
  await refused(client.console.me({}), 'authentication_failed')
  const stranger = own('stranger')
  await refused(client.signIn({ ...operator, username: stranger }), 'authentication_failed')
  const details = 'invalid credentials'
  expect({ actor: stranger, action: 'console.login_failed', target: 'console', details })
  say('a stranger is turned away')

  assert.deepEqual(await client.signIn(operator), { role: 'admin' })
  expect({ action: 'console.login', target: 'console', details: 'role=admin' })
  const { username } = operator
  assert.deepEqual(await client.console.me({}), { username, role: 'admin' })
  say(`${username} signs in`)
}

async function signOut({ client, say }: Day): Promise<void> {
  await client.signOut()
  await refused(client.console.me({}), 'authentication_failed')
  say('the token has ended')
}

type SignIn = { username: string; password: string }

/** Reads the newest page and looks for what was done today, in order. */
async function readTrail({ client, say }: Day, expected: readonly Expected[]): Promise<void> {
  const { entries, dropped_total } = await client.audit.list({ query: { limit: 500 } })
  assert.equal(dropped_total, 0)
  const today = entries
    .slice(0, expected.length)
    .map(({ actor, action, target, details }) => ({ actor, action, target, details }))
    .reverse()
  assert.deepEqual(today, expected)
  say(`it reports ${expected.length} changes, in order, and nothing else`)
  await refused(client.audit.list({ query: { after: 'yesterday' } }), 'invalid_request')
}

if (import.meta.main) {
  const [username = 'admin', password = 'password'] = process.argv.slice(3)
  await runExample((baseUrl, print) => {
    return operatorsDay(baseUrl, { operator: { username, password }, print })
  })
}
