import type { Clock } from '../../kernel/clock.ts'
import { mayCall, type ResolvedAddress } from './outbound-http.addresses.ts'
import { type FetchResponse, send } from './outbound-http.client.ts'
import { fetchFailure } from './outbound-http.errors.ts'
import { type CheckedRequest, checkRequest, type FetchRequest } from './outbound-http.requests.ts'

export type OutboundHttpConfig = {
  enabled: boolean
  allowed_hosts: readonly string[]
  allowed_ports: readonly number[]
  allow_private_networks: boolean
  max_concurrent_requests: number
  max_requests_per_minute: number
}

export type OutboundHttpDeps = {
  config: OutboundHttpConfig
  clock: Clock
  /** Every address of a name; rejects when there is none. */
  resolve(host: string): Promise<readonly ResolvedAddress[]>
}

const minuteMs = 60_000

/**
 * HTTP requests of the game's script to other servers.
 *
 * @example
 * const { status } = await outbound.fetch({ url: 'https://example.com/hook', method: 'POST' })
 */
export function createOutboundHttp({ config, clock, resolve }: OutboundHttpDeps) {
  let open = 0
  let total = 0
  let windowStartMs = Number.NEGATIVE_INFINITY
  let inWindow = 0

  /** Counts a request that is about to leave; refuses it beyond the limits. */
  function admit(): void {
    if (open >= config.max_concurrent_requests) throw fetchFailure('concurrent_limit_reached')
    const nowMs = clock.monotonicMs()
    if (nowMs - windowStartMs >= minuteMs) {
      windowStartMs = nowMs
      inWindow = 0
    }
    if (inWindow >= config.max_requests_per_minute) throw fetchFailure('rate_limit_reached')
    inWindow += 1
    total += 1
  }

  async function addressesOf({ host }: CheckedRequest): Promise<readonly ResolvedAddress[]> {
    const addresses = await resolve(host).catch(() => [])
    if (addresses.length === 0) throw fetchFailure('resolution_failed')
    if (!addresses.every((address) => mayCall(address, config.allow_private_networks))) {
      throw fetchFailure('private_address_forbidden')
    }
    return addresses
  }

  return {
    /**
     * Sends a request and gives the response, whatever its status.
     *
     * @throws ScriptFailure with the reason when there is none
     */
    async fetch(request: FetchRequest): Promise<FetchResponse> {
      if (!config.enabled) throw fetchFailure('capability_disabled')
      const checked = checkRequest(request, config)
      admit()
      open += 1
      const late = new AbortController()
      const timer = clock.after(checked.timeoutMs, () => late.abort())
      try {
        const addresses = await Promise.race([addressesOf(checked), rejectOn(late.signal)])
        return await send(checked, addresses, late.signal)
      } finally {
        timer.cancel()
        open -= 1
      }
    },
    /** Requests that passed every check and limit since the start. */
    requestsTotal: () => total,
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(fetchFailure('timeout')), { once: true })
  })
}
