import type { Database } from '../../database/database.ts'
import { type Statement, statement } from '../../database/statement.ts'
import { type LogRow, scriptLogsStore } from '../../features/script-logs/script-logs.store.ts'

/** How many rows of each kind a measured database begins with. */
export type Seeds = {
  accounts?: number
  groups?: number
  /** Of the script, half of them of twenty matches. */
  lines?: number
}

/** Rows of one statement: few enough for the time that a server gives it. */
const chunkRows = 20_000
const chunkLines = 2_000
/** A prime above every count: times another one, numbers come in no order, and once each. */
const prime = 1_000_003

const range = { first: 'integer', last: 'integer' } as const
const numbers = `WITH RECURSIVE n (i) AS (
  SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i < :last)`

/** Ids and names in no order, as players choose them; counted, as the node's task leaves them. */
const accounts = statement({
  name: 'measured.accounts',
  text: `INSERT INTO accounts (id, username, display_name, display_folded, state,
      created_at_unix_ms, updated_at_unix_ms, counted)
    ${numbers}
    SELECT 'account-' || ((i * 7919) % ${prime}), 'player-' || ((i * 104729) % ${prime}),
      'Player ' || ((i * 15485863) % ${prime}), 'player ' || ((i * 15485863) % ${prime}),
      'active', 1700000000000 + i, 1700000000000 + i, 1 FROM n`,
  params: range,
})
const countAccounts = statement({
  name: 'measured.count-accounts',
  text: `UPDATE account_totals SET accounts = (SELECT count(*) FROM accounts)
    WHERE name = 'counted'`,
})

const groups = statement({
  name: 'measured.groups',
  text: `INSERT INTO groups (name, description, open, max_size, member_count, members_joined,
      created_at_unix_ms)
    ${numbers}
    SELECT 'group-' || ((i * 7919) % ${prime}), 'A group to be read', 1, 0, 1, 1,
      1700000000000 + i FROM n`,
  params: range,
})
const groupMembers = statement({
  name: 'measured.group-members',
  text: `INSERT INTO group_members (group_id, user_id, role, join_order, joined_at_unix_ms)
    SELECT id, 'account-1', 'superadmin', 1, created_at_unix_ms FROM groups`,
})
const countGroups = statement({
  name: 'measured.count-groups',
  text: `INSERT INTO totals (name, total) SELECT 'groups', count(*) FROM groups`,
})

/** The id of one of the seeded accounts, from 1. */
export function seededAccount(number: number): string {
  return `account-${(number * 7919) % prime}`
}

/** Fills an empty database, far faster than operators could, and leaves it as they would. */
export async function seed(db: Database, seeds: Seeds): Promise<void> {
  if (await insert(db, accounts, seeds.accounts)) await db.run(countAccounts, {})
  if (await insert(db, groups, seeds.groups)) {
    await db.run(groupMembers, {})
    await db.run(countGroups, {})
  }
  await writeLines(db, seeds.lines)
}

/** A line a millisecond until now: a node removes old ones. Their ids are counted by 16. */
async function writeLines(db: Database, count = 0): Promise<void> {
  const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')
  const startUnixMs = Date.now() - count
  const lineAt = (number: number): LogRow => {
    const created_at_unix_ms = startUnixMs + number
    return {
      log_id: `ml1-${hex(created_at_unix_ms, 13)}${hex(number, 16)}`,
      match_id: number % 2 === 0 ? null : `mt1-${hex(number % 40, 29)}`,
      node_id: 'node-1',
      created_at_unix_ms,
      level: number % 50 === 0 ? 'error' : 'info',
      tag: 'game.round',
      message: `the round is over, and player number ${number} has won it`,
      payload_json: number % 3 === 0 ? '{"moves":12}' : null,
    }
  }
  for (let first = 1; first <= count; first += chunkLines) {
    const length = Math.min(chunkLines, count - first + 1)
    await scriptLogsStore.insert(
      db,
      Array.from({ length }, (_, at) => lineAt(first + at)),
    )
  }
}

async function insert(db: Database, rows: Statement<typeof range>, count = 0): Promise<boolean> {
  for (let first = 1; first <= count; first += chunkRows) {
    await db.run(rows, { first, last: Math.min(first + chunkRows - 1, count) })
  }
  return count > 0
}
