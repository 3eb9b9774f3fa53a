import type { IncomingMessage } from 'node:http'
import type { Api, Call, Handlers, Route } from '@guildhall/contract'
import type { Principals } from '../auth/principal.ts'
import type { Mutation } from './mutation.ts'

/** What a handler knows of the request beside its parsed parts. */
export type RequestInfo = {
  /** The `X-Request-Id` of the answer. */
  id: string
  /** Where the request comes from, trusted proxies considered. */
  source: string
}

/** The handlers of one feature's routes. */
export type ServerHandlers<A extends Api> = Handlers<A, Principals, RequestInfo, Mutation>

/** One route with its handler, as the server mounts it. */
export type MountedRoute = {
  route: Route
  handle: (call: Call<Route, Principals, RequestInfo, Mutation>) => Promise<unknown>
}

/** The header lines that must be judged one by one, because Node joins or drops repeated ones. */
export type HeaderLines = {
  authorization: string[]
  idempotencyKeys: string[]
  contentTypes: number
  contentEncodings: number
}

/** All header lines of a request with their separators and line ends, in bytes. */
export function headerBytes({ rawHeaders }: IncomingMessage): number {
  let bytes = 0
  for (const text of rawHeaders) bytes += text.length + 2
  return bytes
}

/** How many Host lines a request has: Node keeps the first and says nothing of the others. */
export function hostLines({ rawHeaders }: IncomingMessage): number {
  let lines = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') lines += 1
  }
  return lines
}

/** Collects the header lines that matter from the raw lines of a request. */
export function readHeaderLines(message: IncomingMessage): HeaderLines {
  const lines: HeaderLines = {
    authorization: [],
    idempotencyKeys: [],
    contentTypes: 0,
    contentEncodings: 0,
  }
  const raw = message.rawHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (name.length === 13 && name.toLowerCase() === 'authorization') {
      lines.authorization.push(raw[i + 1] ?? '')
    } else if (name.length === 15 && name.toLowerCase() === 'idempotency-key') {
      lines.idempotencyKeys.push(raw[i + 1] ?? '')
    } else if (name.length === 12 && name.toLowerCase() === 'content-type') lines.contentTypes += 1
    else if (name.length === 16 && name.toLowerCase() === 'content-encoding') {
      lines.contentEncodings += 1
    }
  }
  return lines
}

/** Pairs every route of a table with its handler of the same name. */
export function bindHandlers<A extends Api>(api: A, handlers: ServerHandlers<A>): MountedRoute[] {
  return Object.entries(api).map(([name, route]) => ({
    route,
    // The table and the handlers share their names and types; only the union loses track of it.
    handle: handlers[name as keyof A] as MountedRoute['handle'],
  }))
}
