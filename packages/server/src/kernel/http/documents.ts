import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import type { Exchange } from './exchange.ts'
import { hasBody } from './media.ts'
import type { Serve } from './pipeline.ts'

/** A page or file that is not JSON of the API: the API's description, the dashboard. */
export type Document = {
  method: 'GET'
  /** With a last segment `{*}` it is served at every path below, too. */
  path: `/${string}`
  contentType: string
  /** Sent compressed to those who take that. */
  compressed?: true
  /** Called at the first request for it, so that it costs nothing at start. */
  render(): Rendered
}

/** The text, and headers that stand in the place of the common ones of the same name. */
export type Rendered = { content: string; headers?: Readonly<Record<string, string>> }

type Encoding = 'br' | 'gzip' | 'identity'

/** Serves a document, with 304 for those who have it already. */
export function serveDocument({ contentType, compressed, ...document }: Document): Serve {
  let rendered: Rendered | undefined
  const bodies = new Map<Encoding, Promise<Body>>()

  function bodyIn(encoding: Encoding, content: string): Promise<Body> {
    const known = bodies.get(encoding) ?? encode(content, encoding)
    bodies.set(encoding, known)
    return known
  }

  return async (exchange) => {
    rendered ??= document.render()
    const { content, headers = {} } = rendered
    const encoding = compressed ? acceptedEncoding(exchange) : 'identity'
    const { bytes, etag } = await bodyIn(encoding, content)
    exchange.replace({ etag, 'cache-control': 'no-cache', ...headers })
    if (compressed) exchange.header('vary', 'Accept-Encoding')
    if (encoding !== 'identity') exchange.header('content-encoding', encoding)
    // Nobody reads it, however long it is.
    if (hasBody(exchange.message)) exchange.header('connection', 'close')
    if (matches(exchange.message.headers['if-none-match'], etag)) exchange.reply(304, null)
    else exchange.reply(200, bytes, contentType)
  }
}

type Body = { bytes: Buffer; etag: string }

/** Compressed once, on another thread. */
async function encode(content: string, encoding: Encoding): Promise<Body> {
  const bytes = Buffer.from(content)
  const digest = hash('sha256', content, 'hex').slice(0, 16)
  if (encoding === 'identity') return { bytes, etag: `"${digest}"` }
  const etag = `"${digest}-${encoding}"`
  if (encoding === 'gzip') return { bytes: await promisify(gzip)(bytes, { level: 9 }), etag }
  const params = { [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length, [zlib.BROTLI_PARAM_QUALITY]: 9 }
  return { bytes: await promisify(brotliCompress)(bytes, { params }), etag }
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
