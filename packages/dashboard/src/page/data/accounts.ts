import type { AccountRow } from '@guildhall/contract'
import { call } from './console-client.ts'

/** The account of exactly this id or username. */
export async function findAccount(text: string): Promise<AccountRow | undefined> {
  const [byId, byUsername] = await Promise.all(
    [{ id: text }, { username: text }].map((exact) =>
      call((client) => client.consoleAccounts.list({ query: { ...exact, limit: 1 } })),
    ),
  )
  return byId?.items[0] ?? byUsername?.items[0]
}

/** Whether the node takes it for an address: anything else would be refused. */
export function isEmail(text: string): boolean {
  return /^[\x21-\x3f\x41-\x7e]+@[^@\s.][^@\s]*\.[^@\s]*[^@\s.]$/.test(text.trim())
}
