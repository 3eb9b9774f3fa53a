import { hash } from 'node:crypto'
import type { Exchange } from './exchange.ts'
import type { Serve } from './pipeline.ts'
import { hasBody } from './request/media.ts'

/** A page or file that is not JSON of the API: the API's description, the dashboard. */
export type Document = {
  method: 'GET'
  /** With a last segment `{*}` it is served at every path below, too. */
  path: `/${string}`
  contentType: string
  /** Called at the first request for it, so that it costs nothing at start. */
  render(): Rendered
}

export type Rendered = {
  content: string
  /** They stand in the place of the common ones of the same name. */
  headers?: Readonly<Record<string, string>>
  /** The content as it was compressed before, for those who take that. */
  compressed?: Compressed
}

export type Compressed = Readonly<{ br: Buffer; gzip: Buffer }>

type Encoding = keyof Compressed | 'identity'

/** Serves a document, with 304 for those who have it already. */
export function serveDocument({ contentType, render }: Document): Serve {
  let opened: OpenDocument | undefined
  return async (exchange) => {
    opened ??= openDocument(render())
    const { headers, bodies, digest } = opened
    const encoding = bodies.size > 1 ? acceptedEncoding(exchange) : 'identity'
    const etag = encoding === 'identity' ? `"${digest}"` : `"${digest}-${encoding}"`
    exchange.replace({ etag, 'cache-control': 'no-cache', ...headers })
    if (bodies.size > 1) exchange.header('vary', 'Accept-Encoding')
    if (encoding !== 'identity') exchange.header('content-encoding', encoding)
    // Nothing reads it, however long it is.
    if (hasBody(exchange.message)) exchange.header('connection', 'close')
    if (matches(exchange.message.headers['if-none-match'], etag)) exchange.reply(304, null)
    else exchange.reply(200, bodies.get(encoding) ?? null, contentType)
  }
}

type OpenDocument = {
  headers: Readonly<Record<string, string>>
  digest: string
  bodies: ReadonlyMap<Encoding, Buffer>
}

function openDocument({ content, headers = {}, compressed }: Rendered): OpenDocument {
  const bodies = new Map<Encoding, Buffer>([['identity', Buffer.from(content)]])
  if (compressed !== undefined) bodies.set('br', compressed.br).set('gzip', compressed.gzip)
  return { headers, digest: hash('sha256', content, 'hex').slice(0, 16), bodies }
}

/** The best of what the request accepts; what has `q=0` is refused. */
function acceptedEncoding({ message }: Exchange): Encoding {
  const accepted = new Set<string>()
  for (const item of (message.headers['accept-encoding'] ?? '').toString().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase())
    if (!parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) accepted.add(name)
  }
  if (accepted.has('br')) return 'br'
  return accepted.has('gzip') ? 'gzip' : 'identity'
}

function matches(sent: string | undefined, etag: string): boolean {
  if (sent === undefined) return false
  return sent
    .split(',')
    .some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}
