import { lookup } from 'node:dns/promises'
import { defineFeature } from '../feature.ts'
import { outboundHttpFunctions } from './outbound-http.script.ts'
import { createOutboundHttp, type OutboundHttpDeps } from './outbound-http.service.ts'

/** HTTP requests of the game's script to other servers. */
export function outboundHttpFeature(deps: Omit<OutboundHttpDeps, 'resolve'>) {
  const outbound = createOutboundHttp({ ...deps, resolve: resolveAll })
  return defineFeature({
    script: outboundHttpFunctions(outbound),
    counters: () => ({ script_http_requests_total: outbound.requestsTotal() }),
  })
}

async function resolveAll(host: string) {
  const found = await lookup(host, { all: true })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }) as const)
}
