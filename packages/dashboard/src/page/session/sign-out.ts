import { createConsoleClient } from '@guildhall/client/console'
import { session } from './session.ts'

/** Forgets the token here and in the other tabs, and ends it on the node. */
export async function signOut(): Promise<void> {
  const token = session.current()?.token
  session.end()
  if (token === undefined) return
  // Without an answer the token ends by its age: nothing of it is left here.
  await createConsoleClient('', token)
    .console.logout({})
    .catch(() => undefined)
}
