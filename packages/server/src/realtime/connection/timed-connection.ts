import type { Closing } from './closing/closings.ts'

/** A connection as the timers and batches see it that all connections share. */
export type TimedConnection = {
  readonly limitGroup: string | undefined
  readonly queuedBytes: number
  /** Nothing was heard within the handshake timeout. */
  timeOut(): void
  /** Hands the transport what is queued. */
  flush(): void
  /** True when the connection need not be asked again, because it reads again or is over. */
  resumeAfterRate(nowMs: number): boolean
  /** Gives the script the next envelope that waits; see `ScriptWaiter`. */
  serveScript(): boolean
  /** Looks at everything that has a deadline and no queue of its own. */
  sweep(nowMs: number): void
  sessionEnded(nowUnixMs: number): boolean
  end(closing: Closing): void
  /** Its peer reads too slowly. */
  endAsSlow(): void
  /** The time to drain is over. */
  part(): void
  destroy(): void
}
