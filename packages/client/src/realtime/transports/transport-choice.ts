import { invalidArgument } from '../../error.ts'
import type { Host } from '../../host.ts'
import { sendRequest, withDeadline } from '../../http/request.ts'
import { statusRoute } from '../../session/player-routes.ts'
import type { ConnectOptions } from '../connection-types.ts'
import type { OpenLink, Target } from './transport.ts'
import { websocketTransport } from './websocket-transport.ts'
import { noWebTransport, webTransport } from './webtransport-transport.ts'

/** How long `/status` may take, and how long only WebSocket is tried after a fallback. */
const statusMs = 2_000
const fallbackMs = 600_000
const realtimePath = '/v1/realtime'

/** Chooses what an attempt tries, and keeps what did not work. One per player. */
export type TransportChoice = {
  /** In the order in which they are tried; there is at least one. */
  targets(options: ConnectOptions): Promise<Target[]>
  /** WebTransport did not work: only WebSocket for the next ten minutes. */
  fellBack(): void
  open: OpenLink
}

type Offer = { url: string; certificateSha256?: string } | undefined

export function createTransportChoice(host: Host, baseUrl: string): TransportChoice {
  const overWebSocket = websocketTransport(host.WebSocket)
  const overWebTransport = webTransport(host, fellBack)
  const websocket: Target = {
    transport: 'websocket',
    url: baseUrl.replace(/^http/, 'ws') + realtimePath,
  }
  let asked: Promise<Offer> | undefined
  let websocketOnlyUntilMs = Number.NEGATIVE_INFINITY

  function fellBack(): void {
    websocketOnlyUntilMs = host.monotonicMs() + fallbackMs
  }

  async function offered({ webTransport: given }: ConnectOptions): Promise<Offer> {
    if (host.WebTransport === undefined) return undefined
    if (given !== undefined) return given
    asked ??= askForOffer(host, baseUrl)
    return asked
  }

  return {
    async targets(options) {
      const { transport = 'auto', url } = options
      if (url !== undefined) return [targetAt(url, options)]
      if (transport === 'websocket') return [websocket]
      const offer = await offered(options)
      if (transport === 'webtransport') {
        if (offer !== undefined) return [{ transport: 'webtransport', ...offer }]
        throw noWebTransport()
      }
      const isRefused = host.monotonicMs() < websocketOnlyUntilMs
      if (offer === undefined || isRefused) return [websocket]
      return [{ transport: 'webtransport', ...offer }, websocket]
    },
    fellBack,
    open: (target, events) =>
      target.transport === 'websocket'
        ? overWebSocket(target, events)
        : overWebTransport(target, events),
  }
}

function targetAt(url: string, { webTransport: given }: ConnectOptions): Target {
  if (/^wss?:/.test(url)) return { transport: 'websocket', url }
  if (/^https:/.test(url)) return { ...given, transport: 'webtransport', url }
  throw invalidArgument('url begins with ws://, wss:// or https://')
}

/** What `/status` says about WebTransport; no answer in time counts as no offer. */
async function askForOffer(host: Host, baseUrl: string): Promise<Offer> {
  try {
    const { body } = await withDeadline(host, statusMs, (signal) =>
      sendRequest(statusRoute, {}, { baseUrl, fetch: host.fetch, signal }),
    )
    return offerIn(body, baseUrl)
  } catch {
    return undefined
  }
}

type StatusLine = {
  transports?: {
    webtransport?: {
      available?: boolean
      url?: string
      bind?: string
      certificate_sha256?: string | null
    }
  }
}

function offerIn(status: unknown, baseUrl: string): Offer {
  const entry = (status as StatusLine | undefined)?.transports?.webtransport
  const [, address = '', port] = /^(.*):(\d+)$/.exec(entry?.bind ?? '') ?? []
  if (entry?.available !== true || port === undefined) return undefined
  const { hostname } = new URL(baseUrl)
  // For `localhost` a browser may ask the other loopback address alone.
  const host = isLoopback(hostname) && isLoopback(address) ? address : hostname
  const url = entry.url ?? `https://${host}:${port}${realtimePath}`
  const { certificate_sha256: hash } = entry
  return typeof hash === 'string' ? { url, certificateSha256: hash } : { url }
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host)
}
