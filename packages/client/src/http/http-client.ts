import type { Api, Client } from '@guildhall/contract'
import { type RequestParts, type RouteLine, sendRequest } from './request.ts'

export type HttpClientOptions = {
  /** Where the node listens, without a path, e.g. `http://127.0.0.1:7350`. */
  baseUrl: string
  /** The credential of the next request; undefined sends none. */
  bearer?: () => string | undefined
  /** Called with the headers of each success. */
  answered?: (route: RouteLine, headers: Headers) => void
}

/**
 * The typed client of an API: one function per route, made from the same table that the server is
 * made from. Integers that a number cannot hold exactly are bigint, in both directions. A request
 * that fails rejects with `GuildhallError`.
 *
 * @example
 * const players = createHttpClient(accountsApi, { baseUrl, bearer: () => token })
 * const profile = await players.get({})
 */
export function createHttpClient<A extends Api>(
  api: { [K in keyof A]: RouteLine },
  { baseUrl, bearer, answered }: HttpClientOptions,
): Client<A> {
  const functions = Object.entries<RouteLine>(api).map(([name, route]) => [
    name,
    async (parts: RequestParts) => {
      const { body, headers } = await sendRequest(route, parts, { baseUrl, bearer: bearer?.() })
      answered?.(route, headers)
      return body
    },
  ])
  // Each function was made from the row of its name; only the mapped type knows that.
  return Object.fromEntries(functions) as Client<A>
}
