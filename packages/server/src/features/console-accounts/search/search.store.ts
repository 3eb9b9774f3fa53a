import type { Queries } from '../../../database/database.ts'
import {
  batchStatement,
  type Columns,
  oneOf,
  type Row,
  statement,
} from '../../../database/statement.ts'
import { accounts, identities } from '../../../database/tables/accounts.ts'
import { pick } from '../../../database/tables/table.ts'
import { idAt, idsOfTime } from '../../../kernel/ids.ts'
import { accountRow, columnsOf } from '../console-accounts.store.ts'

const page = { after: 'text', limit: 'integer' } as const

/**
 * The accounts of a page of ids. What an index finds is sorted by an expression, so that no planner
 * follows the ids of all accounts instead; CROSS JOIN lets SQLite take nothing but the page first.
 */
const pageOf = (where: string) => `SELECT ${columnsOf('a')} FROM (
    SELECT id FROM accounts WHERE ${where} AND id > :after ORDER BY id || '' LIMIT :limit
  ) AS found CROSS JOIN accounts a WHERE a.id = found.id ORDER BY a.id`

function finding<const P extends Columns>(name: string, where: string, params: P) {
  const text = pageOf(where)
  const wanted = { ...params, ...page }
  return statement({
    name: `account-search.${name}`,
    text,
    params: wanted,
    row: accountRow,
    long: true,
  })
}

const created = 'created_at_unix_ms >= :created_from AND created_at_unix_ms <= :created_to'
const createdParams = { created_from: 'time', created_to: 'time' } as const
const stateParams = pick(accounts, 'state')

const named = 'display_folded >= :first AND display_folded < :end'
const namedParams = { first: 'text', end: 'text' } as const

const byDisplayName = finding('by-display-name', named, namedParams)
const byCreation = finding('by-creation', created, createdParams)
const byCreationAndState = finding('by-creation-and-state', `${created} AND state = :state`, {
  ...createdParams,
  ...stateParams,
})

/** More accounts than these are not sorted: among so many a page of ids is near. */
export const sortedMax = 20_000

function counting<const P extends Columns>(name: string, where: string, order: string, params: P) {
  const text = `SELECT count(*) AS total FROM
    (SELECT 1 FROM accounts WHERE ${where} ORDER BY ${order} LIMIT ${sortedMax}) AS counted_rows`
  const row = { total: 'integer' } as const
  const long = { long: true, inOrder: true }
  return statement({ name: `account-search.${name}`, text, params, row, ...long })
}

const createdAtLeast = counting('created-at-least', created, 'created_at_unix_ms', createdParams)
const namedAtLeast = counting('named-at-least', named, 'display_folded', namedParams)

/** In the order of ids. The expressions keep SQLite from the index of names, to be sorted. */
const byWideDisplayName = statement({
  name: 'account-search.by-wide-display-name',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE a.display_folded || '' >= :first AND a.display_folded || '' < :end AND a.id > :after
    ORDER BY a.id LIMIT :limit`,
  params: { ...namedParams, ...page },
  row: accountRow,
  long: true,
  inOrder: true,
})

const widelyCreated =
  'a.created_at_unix_ms + 0 >= :created_from AND a.created_at_unix_ms + 0 <= :created_to'

/** In the order of ids. The expressions keep SQLite from the index of times, to be sorted. */
const byWideCreation = statement({
  name: 'account-search.by-wide-creation',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE ${widelyCreated} AND (:state IS NULL OR a.state = :state)
      AND a.id > :after AND a.id < :end ORDER BY a.id LIMIT :limit`,
  params: { ...createdParams, state: oneOf('active', null), ...page, end: 'text' },
  row: accountRow,
  long: true,
  inOrder: true,
})

/** Of states that few are in: all that are is less than all that were created meanwhile. */
const byWideCreationNotActive = statement({
  name: 'account-search.by-wide-creation-not-active',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE a.state <> 'active' AND a.state = :state AND a.id > :after AND ${widelyCreated}
    ORDER BY a.id LIMIT :limit`,
  params: { ...createdParams, ...stateParams, ...page },
  row: accountRow,
  long: true,
})

/** Few accounts are anything but active: they have an index of their own. */
const notActive = statement({
  name: 'account-search.not-active',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE a.state <> 'active' AND a.state = :state AND a.id > :after ORDER BY a.id LIMIT :limit`,
  params: { ...stateParams, ...page },
  row: accountRow,
})

/** Nearly all are, so a page of them is near in the order of ids. */
const active = statement({
  name: 'account-search.active',
  text: `SELECT ${columnsOf('a')} FROM accounts a WHERE a.state = 'active' AND a.id > :after
    ORDER BY a.id LIMIT :limit`,
  params: page,
  row: accountRow,
  long: true,
})

const byCredential = statement({
  name: 'account-search.by-credential',
  text: `SELECT ${columnsOf('a')} FROM identities i JOIN accounts a ON a.id = i.account_id
    WHERE i.provider = :provider AND i.external_id = :external_id`,
  params: pick(identities, 'provider', 'external_id'),
  row: accountRow,
})

const byUsername = statement({
  name: 'account-search.by-username',
  text: `SELECT ${columnsOf('a')} FROM accounts a WHERE a.username = :username`,
  params: { username: 'text' },
  row: accountRow,
})

/**
 * In the order of the index, so that a page is near however many begin like this. With one lower
 * bound: of two SQLite seeks by one, and tests each row for the other.
 */
const byUsernamePrefix = statement({
  name: 'account-search.by-username-prefix',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE a.username >= :first AND a.username < :end
    ORDER BY a.username LIMIT {{unplanned :limit}}`,
  params: { ...namedParams, limit: page.limit },
  row: accountRow,
})

const byUsernamePrefixAfter = statement({
  name: 'account-search.by-username-prefix-after',
  text: `SELECT ${columnsOf('a')} FROM accounts a
    WHERE a.username > :after AND a.username < :end
    ORDER BY a.username LIMIT {{unplanned :limit}}`,
  params: { ...page, end: namedParams.end },
  row: accountRow,
})

/** Names of before that the code has not folded yet. */
const unfolded = statement({
  name: 'account-search.unfolded',
  text: `SELECT id, display_name FROM accounts
    WHERE display_name IS NOT NULL AND display_folded IS NULL
    ORDER BY id LIMIT {{unplanned :items}}`,
  params: { items: 'integer' },
  row: { id: 'text', display_name: 'text' },
})

/** A name that was changed meanwhile has been folded with its change. */
const fold = batchStatement({
  name: 'account-search.fold',
  text: `UPDATE accounts SET display_folded = r.display_folded FROM {{rows}} AS r
    WHERE accounts.id = r.id AND accounts.display_name = r.display_name`,
  params: { id: 'text', display_name: 'text', display_folded: 'text' },
})

type Page = Row<typeof page>
type Created = { created_from?: number | undefined; created_to?: number | undefined }
type State = Row<typeof stateParams>['state']

/** Behind every text that begins with another one. */
const last = '\u{10ffff}'

const beginningWith = (text: string) => ({ first: text, end: `${text}${last}` })

/**
 * Walks the ids that may be of the time: those that the node made have the time of their creation
 * in them, and before and behind those is whatever else there is.
 */
async function widely(tx: Queries, wanted: Omit<Row<(typeof byWideCreation)['params']>, 'end'>) {
  const { after, limit, created_from, created_to } = wanted
  const made = idsOfTime('user-', created_from, created_to)
  const ranges = [
    ['', idAt('user-', 0)],
    [made.first, made.end],
    [idAt('user-', Number.MAX_SAFE_INTEGER), last],
  ] as const
  const found: Row<typeof accountRow>[] = []
  for (const [first, end] of ranges) {
    if (after >= end || found.length === limit) continue
    const [, behind = after] = [after, first].sort()
    const range = { after: behind, end, limit: limit - found.length }
    found.push(...(await tx.all(byWideCreation, { ...wanted, ...range })))
  }
  return found
}

/** What finds accounts; every function takes the transaction first. */
export const searchStore = {
  async byDisplayName(tx: Queries, folded: string, page: Page) {
    const names = beginningWith(folded)
    const counted = await tx.get(namedAtLeast, names)
    const isWide = counted?.total === sortedMax
    return tx.all(isWide ? byWideDisplayName : byDisplayName, { ...page, ...names })
  },
  byCredential: (tx: Queries, credential: Row<(typeof byCredential)['params']>) =>
    tx.all(byCredential, credential),
  byUsernamePrefix(tx: Queries, prefix: string, { after, limit }: Page) {
    const { first, end } = beginningWith(prefix)
    // By bytes of UTF-8, as databases do.
    return Buffer.compare(Buffer.from(after), Buffer.from(first)) < 0
      ? tx.all(byUsernamePrefix, { first, end, limit })
      : tx.all(byUsernamePrefixAfter, { after, end, limit })
  },
  byUsername: (tx: Queries, username: string) => tx.all(byUsername, { username }),
  byState(tx: Queries, state: State, page: Page) {
    return state === 'active' ? tx.all(active, page) : tx.all(notActive, { ...page, state })
  },
  async byCreation(tx: Queries, times: Created, state: State | undefined, page: Page) {
    const { created_from = 0, created_to = Number.MAX_SAFE_INTEGER } = times
    const wanted = { ...page, created_from, created_to }
    const counted = await tx.get(createdAtLeast, { created_from, created_to })
    if (counted?.total === sortedMax) {
      return state === undefined || state === 'active'
        ? widely(tx, { ...wanted, state: state ?? null })
        : tx.all(byWideCreationNotActive, { ...wanted, state })
    }
    return state === undefined
      ? tx.all(byCreation, wanted)
      : tx.all(byCreationAndState, { ...wanted, state })
  },
  unfolded: (tx: Queries, items: number) => tx.all(unfolded, { items }),
  fold: (tx: Queries, names: readonly Row<(typeof fold)['params']>[]) => tx.each(fold, names),
}
