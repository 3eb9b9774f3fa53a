import { createHash, X509Certificate } from 'node:crypto'
import type { TransportConfig } from '../../../config.ts'
import { realtimePath, type Transport } from '../transport.ts'
import { QuicListener, type QuicListenerDeps } from './quic-listener.ts'
import { speakWebTransport } from './webtransport/webtransport.ts'

export type QuicTransportsDeps = Omit<QuicListenerDeps, 'config' | 'speakHttp3'> & {
  config: TransportConfig
}

/** The two transports of the UDP socket: raw QUIC, and WebTransport over HTTP/3. */
export function createQuicTransports(deps: QuicTransportsDeps): Transport[] {
  const { quic, webtransport } = deps.config
  const isWebTransportOn = quic.enabled && webtransport.enabled
  const { allowed_origins } = deps.config.websocket
  const speakHttp3 = isWebTransportOn ? speakWebTransport(allowed_origins) : undefined
  const listener = new QuicListener({ ...deps, config: quic, speakHttp3 })
  const common = () => {
    const { host, port } = listener.address
    const bind = `${host.includes(':') ? `[${host}]` : host}:${port}`
    return { available: listener.isServing, bind }
  }
  const raw: Transport = {
    name: 'quic',
    hasOwnSocket: true,
    start: () => listener.start(),
    state: () => ({ enabled: quic.enabled, ...common() }),
    setCertificate: (pair) => listener.setCertificate(pair),
    metrics: () => listener.metrics(),
    close: () => listener.close(),
  }
  const overHttp3: Transport = {
    name: 'webtransport',
    hasOwnSocket: false,
    // It begins and ends with the socket of QUIC.
    start: async () => {},
    state: () => ({
      enabled: isWebTransportOn,
      ...common(),
      available: isWebTransportOn && listener.isServing,
      path: realtimePath,
      ...(webtransport.public_url === undefined ? {} : { url: webtransport.public_url }),
      ...hashOf(listener.certificate?.certificate),
    }),
    close: async () => {},
  }
  return [raw, overHttp3]
}

/** The hash by which a browser may pin the certificate. */
function hashOf(certificate: string | undefined): { certificate_sha256?: string } {
  if (certificate === undefined) return {}
  const leaf = new X509Certificate(certificate).raw
  return { certificate_sha256: createHash('sha256').update(leaf).digest('base64') }
}
