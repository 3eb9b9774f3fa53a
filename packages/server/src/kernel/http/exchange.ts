import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline as pipe } from 'node:stream/promises'
import type { Api, Call, Handlers, Route } from '@guildhall/contract'
import type { OperatorPrincipal, Principals } from '../auth/principal.ts'
import type { JsonText } from '../json/json-pieces.ts'
import type { Mutation } from '../mutation.ts'
import type { ReadyAnswers } from './connection/ready-answers.ts'
import type { RequestHead } from './request/request-head.ts'

/** What a handler knows of the request beside its parsed parts. */
export type RequestInfo = {
  /** The `X-Request-Id` of the answer. */
  id: string
  /** Where the request comes from, trusted proxies considered. */
  source: string
  /** Adds a header to the answer of a success. */
  header(name: string, value: string): void
}

/** The handlers of one feature's routes. */
export type ServerHandlers<A extends Api> = Handlers<
  A,
  Principals,
  RequestInfo,
  Mutation,
  FileAnswer
>

/** What a route with `file` answers. */
export class FileAnswer {
  readonly bytes: number
  /** Opens the file; it is read as fast as the client takes it, and always closed. */
  readonly open: () => Readable

  constructor(bytes: number, open: () => Readable) {
    this.bytes = bytes
    this.open = open
  }
}

/** One route with its handler, as the server mounts it. */
export type MountedRoute = {
  route: Route
  handle: (call: Call<Route, Principals, RequestInfo, Mutation>) => Promise<unknown>
  /** Throws for an operator who asks too often; nothing of the request is read before. */
  admit?: (principal: OperatorPrincipal) => void
  /** Called when an attempt ends before the handler: it may not be made, or cannot be read. */
  refused?: (principal: OperatorPrincipal, error: unknown) => void
  /** Of a route with `raw`: serves it in place of everything else, and throws its refusals. */
  serve?: (exchange: Exchange) => Promise<void>
}

/** A route that writes its answers itself. */
export function rawRoute(route: Route, serve: (exchange: Exchange) => Promise<void>): MountedRoute {
  const handle = () => Promise.reject(new Error(`${route.path} has no handler`))
  return { route, handle, serve }
}

/** Pairs every route of a table with its handler of the same name. */
export function bindHandlers<A extends Api>(api: A, handlers: ServerHandlers<A>): MountedRoute[] {
  return Object.entries(api).map(([name, route]) => ({
    route,
    // The table and the handlers share their names and types; only the union loses track of it.
    handle: handlers[name as keyof A] as MountedRoute['handle'],
  }))
}

/** One request and its answer on their way through the server. */
export class Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The `X-Request-Id` of the answer. */
  readonly id: string
  /** The canonical path and the query behind it. */
  readonly path: string
  readonly query: string
  readonly startedMs: number
  readonly head: RequestHead
  /** Whether the target could be read; otherwise `path` stands as it was sent. */
  readonly isValid: boolean
  /** The template of the route; `other` until one is found. */
  route = 'other'
  params: Record<string, string> = {}
  /** Whether the answer says that the page of another origin may read it. */
  isCrossOrigin = false
  readonly #answers: ReadyAnswers
  readonly #turn: number
  /** Names and values of the answer's headers in turn: the form that costs Node.js the least. */
  readonly #headers: string[]

  constructor(of: {
    message: IncomingMessage
    response: ServerResponse
    id: string
    path: string
    query: string
    startedMs: number
    head: RequestHead
    isValid: boolean
    headers: readonly string[]
    answers: ReadyAnswers
  }) {
    this.message = of.message
    this.response = of.response
    this.id = of.id
    this.path = of.path
    this.query = of.query
    this.startedMs = of.startedMs
    this.head = of.head
    this.isValid = of.isValid
    this.#answers = of.answers
    this.#turn = of.answers.began()
    this.#headers = [...of.headers, 'x-request-id', of.id]
  }

  /** Adds headers to the answer that is still to be written. */
  header(name: string, value: string): void {
    this.#headers.push(name, value)
  }

  headers(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) this.#headers.push(name, value)
  }

  /** Sets headers in the place of those that the answer has under these names. */
  replace(headers: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(headers)) {
      let at = 0
      while (at < this.#headers.length && this.#headers[at] !== name) at += 2
      this.#headers.splice(at, 2, name, value)
    }
  }

  /** Writes a file to be saved. Resolves when it is written, or the client has left. */
  async replyFile({ bytes, open }: FileAnswer): Promise<void> {
    const { response, message } = this
    if (response.headersSent || response.destroyed) return
    this.#headers.push('content-type', 'application/octet-stream')
    this.#headers.push('content-disposition', 'attachment', 'content-length', String(bytes))
    response.writeHead(200, this.#headers)
    if (message.method === 'HEAD') response.end()
    else await pipe(open(), response).catch(() => response.destroy())
  }

  /** Answers, unless the client has left. `body` is null where the status has none. */
  reply(status: number, body: JsonText | Buffer | null, contentType = 'application/json'): void {
    const { response } = this
    if (response.headersSent || response.destroyed) return
    if (body === null) {
      response.writeHead(status, this.#headers)
      this.#end(undefined)
      return
    }
    const isText = typeof body === 'string'
    const length = isText ? Buffer.byteLength(body) : body.byteLength
    this.#headers.push('content-type', contentType, 'content-length', String(length))
    response.writeHead(status, this.#headers)
    if (Buffer.isBuffer(body)) {
      this.#end(body)
    } else if (isText) {
      // Letters of one byte are copied as they are, which costs Node.js less than to encode them.
      this.#end(body, length === body.length ? 'latin1' : 'utf8')
    } else {
      for (const piece of body.pieces) response.write(piece)
      this.#end(undefined)
    }
  }

  #end(body: string | Buffer | undefined, encoding: BufferEncoding = 'utf8'): void {
    this.#answers.add({ response: this.response, body, encoding }, this.#turn)
  }
}
