import type { CertificatePair } from '../../../kernel/http/connection/certificates.ts'
import type { AcceptUpgrade, Transport, TransportState } from './transport.ts'

/** What the node does with all of its transports. */
export type Transports = {
  /** Whether at least one is on; without any the node runs without realtime. */
  readonly attached: boolean
  readonly acceptUpgrade: AcceptUpgrade | undefined
  /** Resolves once every transport that the operator asked for serves. */
  start(httpAddress: string): Promise<void>
  /** The state of each by name, as `/status` shows it. */
  states(): Record<string, TransportState>
  /** The addresses of sockets of their own by name, `off` where there is none. */
  addresses(): Record<string, string>
  setCertificate(pair: CertificatePair): void
  metrics(): Record<string, number>
  close(): Promise<void>
}

export function joinTransports(transports: readonly Transport[]): Transports {
  return {
    attached: transports.some((transport) => transport.state().enabled),
    acceptUpgrade: transports.find(({ acceptUpgrade }) => acceptUpgrade)?.acceptUpgrade,
    async start(httpAddress) {
      await Promise.all(transports.map((transport) => transport.start(httpAddress)))
    },
    states: () => Object.fromEntries(transports.map(({ name, state }) => [name, state()])),
    addresses() {
      const own = transports.filter(({ hasOwnSocket }) => hasOwnSocket)
      return Object.fromEntries(
        own.map(({ name, state }) => [name, state().enabled ? state().bind : 'off']),
      )
    },
    setCertificate(pair) {
      for (const transport of transports) transport.setCertificate?.(pair)
    },
    metrics: () => Object.assign({}, ...transports.map((transport) => transport.metrics?.())),
    async close() {
      await Promise.all(transports.map((transport) => transport.close()))
    },
  }
}
