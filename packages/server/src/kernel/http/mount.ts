import { hash } from 'node:crypto'
import type { Route } from '@guildhall/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { hasBody } from './media.ts'

/** A page or file that is not JSON of the API: the API description, later the dashboard. */
export type Document = {
  method: 'GET'
  path: `/${string}`
  contentType: string
  /** Called at the first request for it, so that it costs nothing at start. */
  render(): string
  headers?: Record<string, string>
}

type Serve = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/**
 * Mounts one row of the route table. The pipeline answers in `onRequest`, before the framework
 * would look at the body; the handler behind it is never reached.
 */
export function mountRoute(app: FastifyInstance, route: Route, serve: Serve): void {
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : [route.method],
    url: route.path.replace(/\{([^}]+)\}/g, ':$1'),
    onRequest: serve,
    handler: unreachable,
  })
}

export function mountDocument(app: FastifyInstance, document: Document): void {
  const { path, contentType, headers = {} } = document
  let rendered: { content: string; etag: string } | undefined
  app.route({
    method: ['GET', 'HEAD'],
    url: path,
    onRequest: async (request, reply) => {
      rendered ??= withEtag(document.render())
      const { content, etag } = rendered
      reply.headers({ etag, 'cache-control': 'no-cache', ...headers })
      // Nobody reads it, however long it is.
      if (hasBody(request.raw)) reply.header('connection', 'close')
      if (matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return reply.header('content-type', contentType).send(content)
    },
    handler: unreachable,
  })
}

/** A matching If-None-Match is answered with 304. */
function withEtag(content: string) {
  const digest = hash('sha256', content, 'hex').slice(0, 16)
  return { content, etag: `"${digest}"` }
}

function matches(sent: string | undefined, etag: string): boolean {
  if (sent === undefined) return false
  return sent
    .split(',')
    .some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}

/** Stands where the framework wants a handler although a hook has answered. */
export function unreachable(): never {
  throw new Error('the pipeline did not answer')
}
