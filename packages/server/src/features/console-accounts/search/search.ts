import type { AccountRow, consoleAccountsApi } from '@guildhall/contract'
import type { z } from 'zod'
import type { Database, Queries } from '../../../database/database.ts'
import { refuse } from '../../../kernel/failure.ts'
import { foldCase } from '../../../kernel/fold-case.ts'
import type { TaskBody } from '../../../kernel/tasks/supervisor-task.ts'
import { searchStore } from './search.store.ts'

type SearchQuery = z.output<(typeof consoleAccountsApi)['search']['query']>

/** Names of one transaction: their rows are locked meanwhile. */
const batchItems = 500

/** Makes what finds accounts by an index, whatever it is asked by. */
export function createSearch(db: Database) {
  return async (query: SearchQuery) => {
    const { limit, after = '' } = query
    const key = query.username_prefix === undefined ? 'id' : 'username'
    const rows = await find(db, query, { after, limit: limit + 1 })
    const items = rows.slice(0, limit)
    const last = items.at(-1)
    return rows.length > limit && last !== undefined ? { items, next_after: last[key] } : { items }
  }
}

type Page = { after: string; limit: number }

async function find(tx: Queries, query: SearchQuery, page: Page): Promise<AccountRow[]> {
  const { display_name, username_prefix, email, device_id, custom_id } = query
  const { state, created_from, created_to } = query
  const names = [display_name, username_prefix, email, device_id, custom_id].filter(
    (name) => name !== undefined,
  )
  const isByTime = created_from !== undefined || created_to !== undefined
  if (names.length + (isByTime || state !== undefined ? 1 : 0) !== 1) {
    throw refuse.invalid(
      'one of display_name, username_prefix, email, device_id, custom_id, or state and times',
    )
  }
  if (username_prefix !== undefined) return searchStore.byUsernamePrefix(tx, username_prefix, page)
  if (display_name !== undefined) return searchStore.byDisplayName(tx, foldCase(display_name), page)
  if (isByTime) return searchStore.byCreation(tx, { created_from, created_to }, state, page)
  if (state !== undefined) return searchStore.byState(tx, state, page)
  const provider = email !== undefined ? 'email' : device_id !== undefined ? 'device' : 'custom'
  const found = await searchStore.byCredential(tx, { provider, external_id: names[0] ?? '' })
  return found.filter(({ id }) => id > page.after)
}

/** Makes the task that folds names from before there were folded ones. */
export function createNameFolding(db: Database): TaskBody {
  return async ({ signal, progress }) => {
    while (!signal.aborted) {
      const names = await searchStore.unfolded(db, batchItems)
      if (names.length === 0) return
      const folded = names.map(({ id, display_name }) => {
        return { id, display_name, display_folded: foldCase(display_name) }
      })
      await db.transaction((tx) => searchStore.fold(tx, folded), { isolation: 'read committed' })
      progress()
    }
  }
}
