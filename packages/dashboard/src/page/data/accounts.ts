import type { AccountRow } from '@guildhall/contract'
import { call } from './console-client.ts'

/** The account of exactly this id, username or e-mail. */
export async function findAccount(text: string): Promise<AccountRow | undefined> {
  const found = await Promise.all([
    ...[{ id: text }, { username: text }].map((exact) =>
      call((client) => client.consoleAccounts.list({ query: { ...exact, limit: 1 } })),
    ),
    ...(isEmail(text)
      ? [call((client) => client.consoleAccounts.search({ query: { email: text } }))]
      : []),
  ])
  return found.flatMap(({ items }) => items)[0]
}

/** Whether the node takes it for an address: anything else would be refused. */
export function isEmail(text: string): boolean {
  return /^[\x21-\x3f\x41-\x7e]+@[^@\s.][^@\s]*\.[^@\s]*[^@\s.]$/.test(text.trim())
}
