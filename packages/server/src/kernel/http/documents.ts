import { hash } from 'node:crypto'
import { hasBody } from './media.ts'
import type { Serve } from './pipeline.ts'

/** A page or file that is not JSON of the API: the API description, later the dashboard. */
export type Document = {
  method: 'GET'
  path: `/${string}`
  contentType: string
  /** Called at the first request for it, so that it costs nothing at start. */
  render(): string
  headers?: Record<string, string>
}

/** Serves a document, with 304 for those who have it already. */
export function serveDocument({ contentType, headers = {}, render }: Document): Serve {
  let rendered: { content: string; etag: string } | undefined
  return async (exchange) => {
    rendered ??= withEtag(render())
    const { content, etag } = rendered
    exchange.headers({ etag, 'cache-control': 'no-cache', ...headers })
    // Nobody reads it, however long it is.
    if (hasBody(exchange.message)) exchange.header('connection', 'close')
    if (matches(exchange.message.headers['if-none-match'], etag)) exchange.reply(304, null)
    else exchange.reply(200, content, contentType)
  }
}

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
