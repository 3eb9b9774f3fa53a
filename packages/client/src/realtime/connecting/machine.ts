import { GuildhallError, invalidArgument } from '../../error.ts'
import type { Host } from '../../host.ts'
import type { SessionKeeper } from '../../session/session-keeper.ts'
import type { ClosedReason, ConnectOptions, State, StateEvent } from '../connection-types.ts'
import { closedError } from '../sending/calls.ts'
import { utf8Length } from '../sending/payload.ts'
import type { Channel } from '../transports/channel.ts'
import type { TransportChoice } from '../transports/transport-choice.ts'
import { type AttemptFailure, attempt } from './attempt.ts'
import type { Accepted } from './handshake.ts'
import {
  closedReason,
  giveUpMsDefault,
  lostCode,
  pauseMs,
  steadyMs,
  verdictOn,
} from './reconnecting.ts'

/*
 * State          Event                                                    Next
 * -              connect()                                                connecting
 * connecting     accepted                                                 open
 *                refused, failed, timed out                               closed
 * open           the connection ends, and the code says try again         reconnecting
 *                no sign of life, reconnect(): as an end without a code   reconnecting
 *                the connection ends otherwise; close()                   closed
 * reconnecting   accepted                                                 open
 *                the code says no, giveUpMs over, signed out, close()     closed
 */

export type MachineDeps = {
  host: Host
  keeper: SessionKeeper
  transports: TransportChoice
  /** Where the node listens for HTTP. */
  baseUrl: string
}

/** What the machine reports, each before the `state` event that belongs to it. */
export type MachineEvents = {
  /** Returns how many waiting sends were discarded. */
  opened(accepted: Accepted, resumed: boolean): number
  /** The link is gone; the connection may come back. */
  lost(): void
  /** There will be no other link. */
  closed(reason: ClosedReason): void
  state(event: StateEvent): void
}

/** How long `close` waits for the peer. */
const closeMs = 2_000
const closeReasonBytesMax = 123
/** What the server gets of a link that is given up: of the codes that keep the player's seat. */
const givenUpCode = 3999

type Failure = AttemptFailure & { isSignedOut?: boolean }

/** Keeps one connection to the server alive, through as many links as that takes. */
export class Machine {
  readonly #deps: MachineDeps
  readonly #options: ConnectOptions
  readonly #events: MachineEvents
  #state: State = 'connecting'
  #channel: Channel | undefined
  #participant: number | null = null
  #isAccount = false
  /** The number of the next attempt; 0 again after a steady time of `open`. */
  #attempts = 0
  #openedAtMs = 0
  /** What has to be cancelled when the state changes. */
  #pending: (() => void)[] = []
  #cancelGiveUp = () => {}
  /** Starts the attempt that waits for its time. */
  #goOn = () => {}
  /** Those who wait for the next `open`. */
  #reopening: { resolve(): void; reject(error: GuildhallError): void }[] = []
  #end = closedError()
  #gone: Promise<void> = Promise.resolve()

  constructor(deps: MachineDeps, options: ConnectOptions, events: MachineEvents) {
    this.#deps = deps
    this.#options = options
    this.#events = events
  }

  get state(): State {
    return this.#state
  }

  /** The link; undefined unless the state is `open`. */
  get channel(): Channel | undefined {
    return this.#channel
  }

  /** One attempt, and after 4001 a second one with a new token. */
  async connect(): Promise<void> {
    const first = await this.#attempt(false)
    if (first === undefined) return
    const isAccount = this.#isAccount
    const verdict = verdictOn(first.code, { isAccount, justRefreshed: false })
    const failure = verdict === 'refresh first' ? await this.#attempt(true) : first
    if (failure === undefined) return
    this.#state = 'closed'
    throw failure.error
  }

  /** The link is of no use any more: what an end without a code would do. */
  giveUpLink(): void {
    if (this.#channel === undefined) return
    this.#channel.drop(givenUpCode)
    this.#lose(lostCode)
  }

  /**
   * Makes a new link now.
   *
   * @throws GuildhallError `closed` with the reason when the connection ends for good instead
   */
  async reconnect(): Promise<void> {
    if (this.#state === 'closed') throw this.#end
    const opened = new Promise<void>((resolve, reject) => {
      this.#reopening.push({ resolve, reject })
    })
    this.giveUpLink()
    this.#goOn()
    return opened
  }

  /**
   * Ends for good; resolves when the link is gone.
   *
   * @throws GuildhallError `invalid_argument`, and then nothing is closed
   */
  async close(code: number, reason: string): Promise<void> {
    checkClose(code, reason)
    if (this.#state === 'closed') return this.#gone
    const channel = this.#channel
    if (channel !== undefined) {
      channel.onEnvelope = () => {}
      this.#gone = new Promise((resolve) => {
        const cancel = this.#deps.host.startTimer(closeMs, resolve)
        channel.onEnd = () => {
          cancel()
          resolve()
        }
      })
      channel.close(code, reason)
    }
    this.#finish('closed_by_client', code)
    return this.#gone
  }

  /**
   * Resolves with what went wrong, or with undefined once the connection is open. The timer covers
   * all of it: the refresh of the session, the choice of the transport, and the link.
   */
  #attempt(mustRefresh: boolean): Promise<Failure | undefined> {
    const { connectTimeoutMs = 10_000 } = this.#options
    return new Promise((resolve) => {
      let hasEnded = false
      let dropLink = () => {}
      const end = (failure?: Failure) => {
        hasEnded = true
        stopTimer()
        dropLink()
        resolve(failure)
      }
      const fail = (error: GuildhallError) => {
        end({ code: null, error, isSignedOut: error.code === 'signed_out' })
      }
      const stopTimer = this.#deps.host.startTimer(connectTimeoutMs, () => {
        fail(new GuildhallError('timeout', 'the server did not answer in time'))
      })
      this.#pending.push(() => fail(closedError()))
      this.#prepare(mustRefresh).then((options) => {
        if (hasEnded) return
        this.#isAccount = options.token !== ''
        dropLink = attempt(this.#deps, options, {
          accepted: (accepted) => {
            end()
            this.#open(accepted)
          },
          failed: end,
        })
      }, fail)
    })
  }

  /** What an attempt needs before there is a link. A guest has no session to renew. */
  async #prepare(mustRefresh: boolean): Promise<Parameters<typeof attempt>[1]> {
    const { keeper, transports } = this.#deps
    const { as, notices = false } = this.#options
    const renew = () => (mustRefresh ? keeper.refresh() : keeper.fresh())
    const session = as === 'guest' ? null : await renew()
    if (session === null && this.#isAccount) {
      throw new GuildhallError('signed_out', 'nobody is signed in')
    }
    const targets = await transports.targets(this.#options)
    return { token: session?.token ?? '', notices, targets }
  }

  /** In the turn of the last envelope of the handshake, so that nothing overtakes it. */
  #open(accepted: Accepted): void {
    const { channel, info, joined } = accepted
    // A seat is kept only in a room: without one the same number is another boot of the node.
    const resumed = this.#participant === info.participant && joined !== null
    this.#clearPending()
    this.#cancelGiveUp()
    this.#channel = channel
    this.#participant = info.participant
    this.#openedAtMs = this.#deps.host.monotonicMs()
    this.#state = 'open'
    channel.onEnd = ({ code }) => this.#lose(code)
    const reopening = this.#reopening.splice(0)
    const dropped = this.#events.opened(accepted, resumed)
    this.#events.state({ state: 'open', resumed, dropped, lastClose: info.last_close ?? null })
    for (const { resolve } of reopening) resolve()
  }

  #lose(code: number | null): void {
    this.#channel = undefined
    const { host } = this.#deps
    if (host.monotonicMs() - this.#openedAtMs >= steadyMs) this.#attempts = 0
    this.#events.lost()
    const { reconnect } = this.#options
    const { giveUpMs = giveUpMsDefault } = reconnect === false ? {} : (reconnect ?? {})
    if (giveUpMs > 0) {
      this.#cancelGiveUp = host.startTimer(giveUpMs, () => this.#finish('gave_up', code))
    }
    this.#retry(code, false)
  }

  #retry(code: number | null, justRefreshed: boolean): void {
    const { reconnect } = this.#options
    const isAccount = this.#isAccount
    const verdict = verdictOn(code, { isAccount, justRefreshed })
    if (reconnect === false || verdict === 'close') {
      this.#finish(closedReason(code), code)
      return
    }
    const { host } = this.#deps
    const attemptNumber = this.#attempts
    this.#attempts += 1
    const delayMs = pauseMs(attemptNumber, host.random(), reconnect ?? {})
    const again = () => {
      this.#clearPending()
      void this.#again(verdict === 'refresh first')
    }
    this.#pending.push(host.startTimer(delayMs, again), host.onWake(again))
    this.#goOn = again
    this.#state = 'reconnecting'
    this.#events.state({
      state: 'reconnecting',
      closeCode: code,
      attempt: attemptNumber,
      delayMs,
    })
  }

  async #again(mustRefresh: boolean): Promise<void> {
    const failure = await this.#attempt(mustRefresh)
    if (failure === undefined || this.#state !== 'reconnecting') return
    this.#clearPending()
    if (failure.isSignedOut) return this.#finish('signed_out', null)
    this.#retry(failure.code ?? lostCode, mustRefresh && failure.code !== null)
  }

  #finish(reason: ClosedReason, closeCode: number | null): void {
    this.#clearPending()
    this.#cancelGiveUp()
    this.#channel = undefined
    this.#state = 'closed'
    this.#end = closedError(reason, closeCode)
    this.#events.closed(reason)
    this.#events.state({ state: 'closed', reason, closeCode })
    for (const { reject } of this.#reopening.splice(0)) reject(this.#end)
  }

  #clearPending(): void {
    const pending = this.#pending
    this.#pending = []
    this.#goOn = () => {}
    for (const cancel of pending) cancel()
  }
}

/** What a WebSocket takes; WebTransport takes more. */
function checkClose(code: number, reason: string): void {
  const isOfApplication = Number.isInteger(code) && code >= 3000 && code <= 4999
  if (code !== 1000 && !isOfApplication) {
    throw invalidArgument('a close code is 1000 or 3000 to 4999')
  }
  if (utf8Length(reason) > closeReasonBytesMax) {
    throw invalidArgument(`the reason of a close has at most ${closeReasonBytesMax} bytes`)
  }
}
