import type { AccountRow } from '@guildhall/contract'
import { call } from './desk.ts'

/** So many accounts are looked through for one of just this name. */
const pageSize = 200
const pagesMax = 10

/** The account of this id or username; the filter of the list finds parts of them, too. */
export async function findAccount(text: string): Promise<AccountRow | undefined> {
  for (let page = 0; page < pagesMax; page += 1) {
    const query = { filter: text, limit: pageSize, offset: page * pageSize }
    const { items } = await call((desk) => desk.consoleAccounts.list({ query }))
    const found = items.find(({ id, username }) => id === text || username === text)
    if (found !== undefined || items.length < pageSize) return found
  }
  return undefined
}
