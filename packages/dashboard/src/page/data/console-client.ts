import { type ConsoleClient, createConsoleClient, GuildhallError } from '@guildhall/client/console'
import { QueryClient } from '@tanstack/react-query'
import { session } from '../session/session.ts'
import { answered } from './answering-node.ts'
import { freshMs } from './pace.ts'

let latest: { token: string; client: ConsoleClient } | undefined

/** The console client of whoever is signed in. */
function clientOf(token: string): ConsoleClient {
  if (latest?.token !== token) {
    latest = { token, client: createConsoleClient('', token, { answered }) }
  }
  return latest.client
}

/** Calls the console; a refused token asks for a new sign-in and is thrown on. */
export async function call<T>(work: (client: ConsoleClient) => Promise<T>): Promise<T> {
  const token = session.current()?.token ?? ''
  try {
    return await work(clientOf(token))
  } catch (error) {
    if (error instanceof GuildhallError && error.status === 401) session.expired(token)
    throw error
  }
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: freshMs,
      retry: (failures, error) => failures < 1 && isPassing(error),
      retryDelay: 400,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})

/** What was read and with which token goes with the session. */
session.subscribe(() => {
  if (session.current() !== undefined) return
  latest = undefined
  queries.clear()
})

/** What may be gone at the next try: a lost connection, or a failure of the server. */
function isPassing(error: unknown): boolean {
  return error instanceof GuildhallError && [undefined, 500, 502].includes(error.status)
}
