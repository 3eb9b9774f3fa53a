import { useRead } from './reads.ts'

/** What an account is called; until that is read, and where there is no such account, its id. */
export function useName(id: string): string {
  const account = useRead(['accounts', 'one', id], (desk) =>
    desk.consoleAccounts.get({ params: { id } }),
  )
  return account.data?.username ?? id
}
