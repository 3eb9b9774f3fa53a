import type { AccountRow } from '@guildhall/contract'
import { call } from './console-client.ts'

/**
 * The account of exactly this id; else those of exactly this username or e-mail, which are two
 * where a player took the address of another one for a name.
 */
export async function findAccounts(text: string): Promise<readonly AccountRow[]> {
  const found = await Promise.all([
    ...[{ id: text }, { username: text }].map((exact) =>
      call((client) => client.consoleAccounts.list({ query: { ...exact, limit: 1 } })),
    ),
    ...(isEmail(text)
      ? [call((client) => client.consoleAccounts.search({ query: { email: text } }))]
      : []),
  ])
  const rows = new Map(found.flatMap(({ items }) => items).map((row) => [row.id, row]))
  const byId = rows.get(text)
  return byId === undefined ? [...rows.values()] : [byId]
}

/** Whether the node takes it for an address: anything else would be refused. */
export function isEmail(text: string): boolean {
  return /^[\x21-\x3f\x41-\x7e]+@[^@\s.][^@\s]*\.[^@\s]*[^@\s.]$/.test(text.trim())
}
