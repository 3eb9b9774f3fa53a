import { isIP } from 'node:net'
import type { Log } from '../log/log.ts'
import { networkOf } from './request/source-address.ts'
import type { Answer, AnsweredRequest } from './server.ts'

export type AccessLogConfig = {
  /** `errors`: 5xx and 429. */
  access: 'off' | 'errors' | 'all'
  /** `truncated`: IPv4 to /24, IPv6 to /48. */
  client_addresses: 'off' | 'truncated' | 'full'
}

/** Makes the function that writes a line per answered request, or undefined when it is off. */
export function createAccessLog({ access, client_addresses }: AccessLogConfig, log: Log) {
  if (access === 'off') return undefined
  return ({ status }: Answer, describe: () => AnsweredRequest): void => {
    if (access === 'errors' && status < 500 && status !== 429) return
    const { client, duration_ms, with_key: _, ...request } = describe()
    const shown = client_addresses === 'full' ? client : truncated(client)
    log.info('answered a request', {
      ...request,
      duration_ms: Math.round(duration_ms * 1000) / 1000,
      ...(client_addresses === 'off' ? {} : { client: shown }),
    })
  }
}

function truncated(address: string): string {
  if (isIP(address) === 6) return networkOf(address, 3)
  return address.replace(/\.[0-9]+$/, '.0/24')
}
