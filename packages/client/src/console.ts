import { type Api, api, type Client } from '@guildhall/contract'
import { createHttpClient, type HttpClientOptions } from './http/http-client.ts'

export { parseExact } from '@guildhall/contract/wire'
export { GuildhallError } from './error.ts'
export { createHttpClient, type HttpClientOptions } from './http/http-client.ts'

/** Everything of the table that operators call. */
const { signIn, sessions, accounts, realtime, shell, lagUpload, ...consoleApis } = api

/** The sections of the console by name, each with one function per route. */
type Sections = { [F in keyof typeof consoleApis]: Client<(typeof consoleApis)[F]> }

export type ConsoleClient = ReturnType<typeof createConsoleClient>

export type Operator = { username: string; password: string }

/**
 * The console API for one operator, who signs in, or for a machine, which has an API key.
 * Mutations take an `idempotencyKey` beside their parts: the same key with the same request gives
 * the same answer again and changes nothing.
 *
 * @example
 * const client = createConsoleClient('http://127.0.0.1:7350')
 * await client.signIn({ username: 'admin', password: 'password' })
 * await client.groups.create({ body: { name: 'Red Team' }, idempotencyKey: 'red-team-1' })
 */
export function createConsoleClient(
  baseUrl: string,
  apiKey?: string,
  options: Pick<HttpClientOptions, 'answered'> = {},
) {
  let token = apiKey
  const bearer = () => token
  const sectionOf = (section: Api) => createHttpClient(section, { baseUrl, bearer, ...options })
  const sections = Object.entries(consoleApis).map(([name, section]) => [name, sectionOf(section)])
  // Each section was made from the table of its name; only the mapped type knows that.
  const bound = Object.fromEntries(sections) as Sections
  return {
    ...bound,
    /**
     * Exchanges credentials for a token, which every later request carries.
     *
     * @throws GuildhallError `authentication_failed`, or `rate_limited` after too many attempts
     */
    async signIn(operator: Operator): Promise<{ role: 'admin' | 'viewer' }> {
      const session = await bound.console.login({ body: operator })
      token = session.token
      return { role: session.role }
    },
    /** Ends the token of the operator who is signed in, on every node and at once. */
    async signOut(): Promise<void> {
      await bound.console.logout({})
      token = undefined
    },
  }
}
