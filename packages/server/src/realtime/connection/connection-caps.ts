import type { TransportLimits } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'

/** Counts connections against the caps: in total, per source, and without a decision. */
export type ConnectionCaps = {
  /**
   * Whether one more from there is refused; `undefined` is loopback, which counts in total only.
   */
  refuses(limitGroup: string | undefined): boolean
  opened(limitGroup: string | undefined): void
  /** The handshake has its decision. */
  decided(): void
  closed(limitGroup: string | undefined): void
}

export function createConnectionCaps(
  limits: TransportLimits,
  metrics: GatewayMetrics,
): ConnectionCaps {
  const bySource = new Map<string, number>()
  let pending = 0

  function isFull(limitGroup: string | undefined): boolean {
    if (metrics.connections_active >= limits.max_connections) return true
    if (pending >= limits.max_pending_handshakes) return true
    if (limitGroup === undefined) return false
    return (bySource.get(limitGroup) ?? 0) >= limits.max_connections_per_address
  }

  return {
    refuses(limitGroup) {
      const full = isFull(limitGroup)
      if (full) metrics.connections_refused_total += 1
      return full
    },
    opened(limitGroup) {
      pending += 1
      metrics.connections_active += 1
      metrics.connections_accepted_total += 1
      if (limitGroup !== undefined) bySource.set(limitGroup, (bySource.get(limitGroup) ?? 0) + 1)
    },
    decided() {
      pending -= 1
    },
    closed(limitGroup) {
      metrics.connections_active -= 1
      if (limitGroup === undefined) return
      const left = (bySource.get(limitGroup) ?? 0) - 1
      if (left > 0) bySource.set(limitGroup, left)
      else bySource.delete(limitGroup)
    },
  }
}
