import { GuildhallError } from '../../error.ts'
import type { Host } from '../../host.ts'
import { Channel } from '../transports/channel.ts'
import type { Target } from '../transports/transport.ts'
import type { TransportChoice } from '../transports/transport-choice.ts'
import { type Accepted, type Refused, shakeHands } from './handshake.ts'

/** How long WebTransport has for its AUTH_RESULT before WebSocket is tried. */
const webTransportMs = 3_000

export type AttemptOptions = {
  token: string
  notices: boolean
  targets: readonly Target[]
}

export type AttemptEvents = {
  /** In the turn of the envelope that completed the handshake. */
  accepted(accepted: Accepted): void
  failed(failure: AttemptFailure): void
}

/** `code` is null when the server said none. */
export type AttemptFailure = { code: number | null; error: GuildhallError }

/**
 * One attempt to connect: each target in turn until one is accepted or rejects. Calls exactly one
 * of its events, unless it is cancelled first. The caller bounds its time.
 *
 * @returns Cancels the attempt; afterwards nothing is called any more.
 */
export function attempt(
  { host, transports }: { host: Host; transports: TransportChoice },
  { targets, ...hello }: AttemptOptions,
  events: AttemptEvents,
): () => void {
  let channel: Channel | undefined
  let hasEnded = false
  let stopFallback = () => {}

  function end(): void {
    hasEnded = true
    stopFallback()
  }

  function fail(failure: AttemptFailure): void {
    if (hasEnded) return
    end()
    channel?.drop()
    events.failed(failure)
  }

  function tryTarget(index: number): void {
    const target = targets[index]
    if (target === undefined) return
    const mayFallBack = index + 1 < targets.length
    const fallBack = () => {
      if (hasEnded) return
      stopFallback()
      channel?.drop()
      transports.fellBack()
      tryTarget(index + 1)
    }
    if (mayFallBack) stopFallback = host.startTimer(webTransportMs, fallBack)
    let isAnswered = false
    try {
      channel = new Channel(transports.open, target)
    } catch (error) {
      if (mayFallBack) fallBack()
      else fail({ code: null, error: error as GuildhallError })
      return
    }
    shakeHands(channel, hello, {
      answered() {
        isAnswered = true
        stopFallback()
      },
      accepted(accepted) {
        end()
        events.accepted(accepted)
      },
      refused: (refused) => (mayFallBack && !isAnswered ? fallBack() : fail(failureOf(refused))),
    })
  }

  tryTarget(0)
  return () => {
    if (hasEnded) return
    end()
    channel?.drop()
  }
}

function failureOf({ code, reason, wasOpen }: Refused): AttemptFailure {
  // 1006 is what a runtime says when there was no closing handshake, so nobody said it.
  if (!wasOpen || code === null || code === 1006) {
    return { code: null, error: new GuildhallError('network_error', 'the server did not answer') }
  }
  const message = reason === '' ? `the server closed the connection (${code})` : reason
  return { code, error: new GuildhallError('closed', message, { closeCode: code }) }
}
