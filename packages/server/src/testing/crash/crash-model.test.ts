import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import type { CrashModel } from '../../features/feature.ts'
import { crashModels } from '../../node/features/features.ts'
import { openTestApi } from '../api.ts'
import { createDeployment } from './deployment.ts'
import { createRandom } from './random.ts'
import { scriptCurrency } from './sections/scripts.ts'
import { type CrashStore, sqliteCrashes } from './stores.ts'

const oldest = (table: string) => `${table} WHERE rowid = (SELECT MIN(rowid) FROM ${table})`
const newest = (table: string, where = 'true') =>
  `${table} WHERE rowid = (SELECT MAX(rowid) FROM ${table} WHERE ${where})`
const group = 'SELECT MIN(id) FROM groups'

/** What could be wrong with a store after a crash, the part that must say so, and how to do it. */
const losses: readonly (readonly [loss: string, part: CrashModel, text: string])[] = [
  ['an account', 'players', `DELETE FROM ${oldest('accounts')}`],
  ['a credential', 'players', `DELETE FROM ${oldest('identities')}`],
  ['a name', 'players', "UPDATE accounts SET display_name = 'nobody'"],
  ['a state', 'players', "UPDATE accounts SET state = 'disabled' WHERE state = 'active'"],
  ['a session', 'players', `DELETE FROM ${oldest('sessions')}`],
  ['half of a pair', 'players', "UPDATE sessions SET refresh_digest = CAST('x' || id AS BLOB)"],
  ['the life of sessions', 'players', 'UPDATE sessions SET revoked_at_unix_ms = 1'],
  ['the end of sessions', 'players', 'UPDATE sessions SET revoked_at_unix_ms = NULL'],
  [
    'an entry',
    'wallets',
    `DELETE FROM ${newest('wallet_ledger', `currency <> '${scriptCurrency}'`)}`,
  ],
  ['a balance', 'wallets', 'UPDATE wallet_balances SET balance = balance + 1'],
  ['half of a relation', 'friends', `DELETE FROM ${oldest('friend_edges')}`],
  [
    'a time',
    'friends',
    "UPDATE friend_edges SET updated_unix_ms = 1 WHERE state <> 'invited_sent'",
  ],
  ['a group', 'groups', `DELETE FROM ${oldest('groups')}`],
  ['a member', 'groups', `INSERT INTO group_members VALUES ((${group}), 'x', 'member', 99, 1)`],
  ['a message', 'chat', `DELETE FROM ${newest('chat_messages')}`],
  ['a counter', 'chat', 'UPDATE chat_channels SET messages = messages + 1'],
  ['a record of moderation', 'chat', `DELETE FROM ${oldest('chat_moderation')}`],
  ['one', 'notifications', `DELETE FROM ${newest('notifications')}`],
  ['a total', 'notifications', 'UPDATE notification_totals SET total = total + 1'],
  ['a generation', 'api-keys', 'UPDATE api_keys SET generation = generation + 1'],
  ['a purchase', 'purchases', `DELETE FROM ${oldest('purchases')}`],
  ['a score', 'leaderboards', 'UPDATE leaderboard_records SET score = score + 1'],
  ['a count', 'leaderboards', 'UPDATE leaderboard_blocks SET records = records + 1'],
  [
    'a value',
    'storage',
    "UPDATE storage_objects SET value = '{}' WHERE collection NOT LIKE 'script-%'",
  ],
  ['a number of objects', 'storage', 'UPDATE storage_collections SET objects = objects + 1'],
  ['a record', 'matches', `DELETE FROM ${oldest('match_records')}`],
  ['a count', 'matches', 'UPDATE match_records SET join_total = join_total + 1'],
  ['the end', 'matches', "UPDATE match_records SET closed_at_unix_ms = NULL, boot_id = 'bt1-past'"],
  ['an entry', 'trail', "DELETE FROM audit_entries WHERE action = 'chat.message.append'"],
  ['the chain', 'doctor', 'UPDATE audit_entries SET seq = 99999 WHERE seq = 1'],
]

let store: CrashStore
let deployment: ReturnType<typeof createDeployment>

beforeAll(async () => {
  store = await sqliteCrashes.open()
  deployment = createDeployment(store, createRandom(1))
  await deployment.round({ during: 'full load', answers: 800 })
  await deployment.end()
})
afterAll(() => store.dispose())

it('[O-TX-1] has nothing to say against a store that holds what was answered', async () => {
  await deployment.model.examine(store.url)
})

/** The store after some harm, as its URL. */
function changed(harm: (db: DatabaseSync) => void): string {
  const path = join(store.folder, 'changed.db')
  copyFileSync(store.url.slice('sqlite:'.length), path)
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  harm(db)
  db.close()
  return `sqlite:${path}`
}

it.each(losses)(
  '[O-TX-1] finds %s missing or different, by the model %s',
  async (_, part, text) => {
    const found = deployment.model.examine(changed((db) => db.exec(text)))
    await expect(found).rejects.toThrow(new RegExp(`^${part}`))
  },
)

/** What the features declare. */
async function declaredModels() {
  const [memory] = testBackends
  if (memory === undefined) throw new Error('there is no backend')
  const { db, dispose } = await memory.open()
  const { features, close } = await openTestApi({ db })
  await close()
  await dispose()
  return Object.entries(crashModels(features))
}

const declared = await declaredModels()
const held = declared.flatMap(([table, how]) =>
  typeof how === 'string' ? [[table, how] as const] : [],
)
const notHeld = declared.flatMap(([table, how]) =>
  typeof how === 'string' ? [] : [[table, how.not] as const],
)

it.each(held)('[O-TX-1] misses the rows of %s, by the model %s', async (table, model) => {
  let rows = 0
  const url = changed((db) => {
    rows = Number(db.prepare(`DELETE FROM ${table}`).run().changes)
  })
  expect(rows).toBeGreaterThan(0)
  await expect(deployment.model.examine(url, model)).rejects.toThrow()
})

it.each(notHeld)('[O-TX-1] does not hold %s, so that it has to say why', async (table, why) => {
  expect(why).toMatch(/^.{10,80}$/)
  await deployment.model.examine(changed((db) => db.exec(`DELETE FROM ${table}`)))
})
