import {
  diagCapabilitiesBody,
  diagClockSyncBody,
  diagFeatures,
  diagServerTimeBody,
  diagStatusBody,
  type Envelope,
  kinds,
} from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import { decoded } from '../../../kernel/play/decoded.ts'
import type { GatewayMetrics } from '../../metrics.ts'
import type { LiveConnection } from '../live/live-connection.ts'
import type { RecordingClients } from '../recording/recording-clients.ts'
import type { Notices } from './notices.ts'

/**
 * The clocks of clients: offers of the server's time, and samples of the way there and back. With
 * the offers go what clients say of recordings.
 */
export type ServerTime = {
  /** Sends an offer that nobody asked for, if the configuration says so. */
  offerUnasked(live: LiveConnection): void
  offer(live: LiveConnection): void
  capabilities(live: LiveConnection, envelope: Envelope): void
  clockSync(live: LiveConnection, envelope: Envelope): void
  /** What a client says about a capture. */
  status(live: LiveConnection, envelope: Envelope): void
}

type ServerTimeDeps = {
  clock: Clock
  metrics: GatewayMetrics
  notices: Notices
  recording: Pick<RecordingClients, 'marked' | 'withdrew' | 'said'>
  offersAlways: boolean
  /** Secure random bytes. */
  randomness(size: number): Buffer
}

const syncsPerSecMax = 2

export function createServerTime(deps: ServerTimeDeps): ServerTime {
  const { clock, metrics, notices, recording } = deps

  function malformed(live: LiveConnection, { kind }: Envelope): void {
    metrics.decode_errors_total += 1
    notices(live, 'malformed_body', kind)
  }

  function newOfferId(): bigint {
    for (;;) {
      const id = deps.randomness(8).readBigUInt64BE()
      if (id !== 0n) return id
    }
  }

  function offer(live: LiveConnection): void {
    const offer_id = newOfferId()
    live.client.offerId = offer_id
    const body = diagServerTimeBody.encode({ offer_id, server_utc_ms: clock.nowUnixMs() })
    live.send(kinds.DIAG_SERVER_TIME.first, body)
  }

  function mayAnswer({ client }: LiveConnection): boolean {
    const nowMs = clock.monotonicMs()
    if (client.clockSyncs === undefined || nowMs - client.clockSyncs.sinceMs >= 1000) {
      client.clockSyncs = { sinceMs: nowMs, count: 0 }
    }
    client.clockSyncs.count += 1
    return client.clockSyncs.count <= syncsPerSecMax
  }

  return {
    offerUnasked(live) {
      if (deps.offersAlways) offer(live)
    },
    offer,
    capabilities(live, envelope) {
      const said = decoded(diagCapabilitiesBody, envelope.body)
      if (said === undefined || (said.features & ~diagFeatures.recording) !== 0) {
        return malformed(live, envelope)
      }
      if (said.offer_id === 0n) return offer(live)
      if (said.offer_id !== live.client.offerId) return malformed(live, envelope)
      if (live.userId === null) return
      if (said.features === 0) recording.withdrew(live)
      else recording.marked(live, offer)
    },
    clockSync(live, envelope) {
      const request = decoded(diagClockSyncBody, envelope.body)
      if (request?.type !== 'request') return malformed(live, envelope)
      if (!mayAnswer(live)) return
      const nowUs = Math.round(clock.nowUnixMs() * 1000)
      const body = diagClockSyncBody.encode({
        ...request,
        type: 'response',
        server_recv_utc_us: nowUs,
        server_sent_utc_us: nowUs,
      })
      live.send(kinds.DIAG_CLOCK_SYNC.first, body)
    },
    status(live, envelope) {
      const said = decoded(diagStatusBody, envelope.body)
      if (said === undefined || !recording.said(live, said)) malformed(live, envelope)
    },
  }
}
