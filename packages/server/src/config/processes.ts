import { join } from 'node:path'
import type { LoadedConfig } from './load.ts'
import type { Config } from './schema.ts'
import { parseAddress } from './values/address.ts'

/** Where the processes of one command listen, all of them. */
export type Binds = { readonly http: string; readonly quic: string }

/** The ids of the nodes that one command runs with a configuration. */
export function nodeIdsOf({ node_id, processes }: Config['server']): string[] {
  if (processes === 1) return [node_id]
  return Array.from({ length: processes }, (_, index) => `${node_id}-${index + 1}`)
}

/** What one of several processes runs with; `number` counts from 1. */
export function configOfProcess(loaded: LoadedConfig, number: number, binds: Binds): LoadedConfig {
  const { config } = loaded
  const { server, http, transport, metrics, errors } = config
  const node_id = nodeIdsOf(server)[number - 1] ?? server.node_id
  const own: Config = {
    ...config,
    server: { ...server, node_id },
    http: { ...http, bind: binds.http },
    transport: { ...transport, quic: { ...transport.quic, bind: binds.quic } },
    metrics: { ...metrics, bind: countedUp(metrics.bind, number - 1) },
    // Two processes cannot write one journal.
    errors: { ...errors, directory: join(errors.directory ?? '.', node_id) },
  }
  return { ...loaded, config: own }
}

/** An address with a port so much higher; one that the system chooses stays so. */
function countedUp(address: string, by: number): string {
  const port = parseAddress(address)?.port ?? 0
  if (port === 0) return address
  return `${address.slice(0, address.lastIndexOf(':'))}:${port + by}`
}
