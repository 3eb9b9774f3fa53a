import { lookup } from 'node:dns/promises'
import { defineFeature } from '../feature.ts'
import { outboundHttpFunctions } from './outbound-http.script.ts'
import { createOutboundHttp, type OutboundHttpDeps } from './outbound-http.service.ts'

type OutboundHttpFeatureDeps = Pick<OutboundHttpDeps, 'clock'> & {
  config: { runtime: { outbound_http: OutboundHttpDeps['config'] } }
}

/** HTTP requests of the game's script to other servers. */
export function outboundHttpFeature({ clock, config }: OutboundHttpFeatureDeps) {
  const { outbound_http } = config.runtime
  const outbound = createOutboundHttp({ clock, config: outbound_http, resolve: resolveAll })
  return defineFeature({
    script: outboundHttpFunctions(outbound),
    counters: () => ({ script_http_requests_total: outbound.requestsTotal() }),
  })
}

async function resolveAll(host: string) {
  const found = await lookup(host, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }) as const)
}
