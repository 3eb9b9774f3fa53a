import {
  type DiagFlush,
  type DiagStart,
  type DiagStatus,
  diagCapabilitiesBody,
  diagFeatures,
  diagFlushBody,
  diagServerTimeBody,
  diagStartBody,
  diagStatusBody,
  type Envelope,
  kinds,
  lagContentType,
  WireError,
} from '@guildhall/contract/wire'
import { invalidArgument } from './error.ts'
import { Recording } from './lag/recording.ts'
import { Listeners, type Off } from './listeners.ts'
import type { Connection } from './realtime/connection-types.ts'
import { type RecordingPort, recordingPortOf } from './realtime/recording-port.ts'
import { reportToConsole } from './report.ts'

/**
 * What the recorder does.
 *
 * | state     | what comes next                                                       |
 * |-----------|-----------------------------------------------------------------------|
 * | idle      | asking, when a capture starts                                         |
 * | asking    | recording with consent, else idle; without an answer in 10 s, too     |
 * | recording | uploading at a flush, frozen at the deadline                          |
 * | frozen    | uploading at a flush: nothing more is recorded                        |
 * | uploading | uploaded, or frozen when that failed                                  |
 * | uploaded  | asking, when another capture starts                                   |
 * | stopped   | nothing: the player does not take part any more                       |
 */
export type LagRecorderState =
  | 'idle'
  | 'asking'
  | 'recording'
  | 'frozen'
  | 'uploading'
  | 'uploaded'
  | 'stopped'

/** What a capture would record: times and sizes of these kinds, never what they say. */
export type LagRequest = {
  kinds: { kind: number; direction: 'inbound' | 'outbound' }[]
  durationMs: number
  maxBytes: number
}

/** What a recorder needs of a connection, whatever the types of its game are. */
export type RecordedConnection = Pick<
  Connection,
  'on' | 'state' | 'serverNow' | 'serverTimeUncertaintyMs'
>

export type LagOptions = {
  /** Asked for each capture; false, or an error, declines it. */
  consent(request: LagRequest): boolean | Promise<boolean>
}

export type LagRecorder = {
  readonly state: LagRecorderState
  on(event: 'state', call: (state: LagRecorderState) => unknown): Off
  /** Withdraws: nothing is recorded or uploaded any more. */
  stop(): void
}

/** So long the node waits for an answer to a start, in milliseconds. */
const answerMs = 10_000

/** The node ends an upload after 30 s; no later answer is worth waiting for. */
const uploadMs = 40_000

/** How often a recording says how much it has, in milliseconds. */
const reportEveryMs = 5_000

/**
 * Lets operators record when envelopes of this connection come and go, if the player agrees to it.
 * A guest can never be recorded.
 *
 * @throws GuildhallError `invalid_argument` for what is no connection of `createPlayer`
 * @example
 * const recorder = recordLag(connection, { consent: () => confirm('Record timings, no content?') })
 * recorder.on('state', (state) => { banner.hidden = state !== 'recording' })
 */
export function recordLag(connection: RecordedConnection, options: LagOptions): LagRecorder {
  const port = recordingPortOf(connection)
  if (port === undefined) throw invalidArgument('this is no connection of createPlayer')
  return new Recorder(connection, { port, ...options })
}

class Recorder implements LagRecorder {
  readonly #connection: RecordedConnection
  readonly #port: RecordingPort
  readonly #consent: LagOptions['consent']
  readonly #listeners = new Listeners<'state'>(reportToConsole)
  readonly #offs: Off[]
  #state: LagRecorderState = 'idle'
  #offerId = 0n
  #recording: Recording | undefined
  /** The start that the player is being asked about. */
  #asked: object | undefined
  #cancelTimers: (() => void)[] = []
  /** The newest flush, until its token is used. */
  #wanted: DiagFlush | undefined
  readonly #uploads = new Set<AbortController>()

  constructor(
    connection: RecordedConnection,
    { port, consent }: LagOptions & { port: RecordingPort },
  ) {
    this.#connection = connection
    this.#port = port
    this.#consent = consent
    this.#offs = [
      connection.on('envelope', (envelope) => this.#take(envelope)),
      connection.on('state', ({ state }) => this.#changed(state)),
    ]
    this.#askForOffer()
  }

  get state(): LagRecorderState {
    return this.#state
  }

  on(event: 'state', call: (state: LagRecorderState) => unknown): Off {
    return this.#listeners.on(event, call)
  }

  stop(): void {
    if (this.#state === 'stopped') return
    for (const off of this.#offs) off()
    this.#drop()
    for (const upload of this.#uploads) upload.abort()
    if (this.#offerId !== 0n) this.#write(kinds.DIAG_CAPABILITIES.first, this.#capabilities(0))
    this.#enter('stopped')
  }

  #enter(state: LagRecorderState): void {
    if (this.#state === state) return
    this.#state = state
    this.#listeners.emit('state', state)
  }

  /** A new link knows nothing of the one before; its capture ended with it. */
  #changed(state: Connection['state']): void {
    if (state === 'open') {
      this.#askForOffer()
      return
    }
    this.#drop()
    if (this.#state !== 'uploaded') this.#enter('idle')
  }

  #drop(): void {
    for (const cancel of this.#cancelTimers.splice(0)) cancel()
    this.#port.tap(undefined)
    this.#recording = undefined
    this.#asked = undefined
    this.#wanted = undefined
    this.#offerId = this.#connection.state === 'open' ? this.#offerId : 0n
  }

  #askForOffer(): void {
    const body = diagCapabilitiesBody.encode({ offer_id: 0n, features: 0 })
    this.#write(kinds.DIAG_CAPABILITIES.first, body)
  }

  #capabilities(features: number): Uint8Array {
    return diagCapabilitiesBody.encode({ offer_id: this.#offerId, features })
  }

  /** What cannot leave now ends with its capture; a later one may go better. */
  #write(kind: number, body: Uint8Array): void {
    try {
      this.#port.write(kind, body)
    } catch {
      // The connection is not open, or its transport is full.
    }
  }

  #take({ kind, body }: Envelope): void {
    try {
      if (kind === kinds.DIAG_SERVER_TIME.first) this.#offered(body)
      else if (kind === kinds.DIAG_START.first) void this.#begin(diagStartBody.decode(body))
      else if (kind === kinds.DIAG_FLUSH.first) void this.#flush(diagFlushBody.decode(body))
    } catch (error) {
      if (!(error instanceof WireError)) throw error
    }
  }

  #offered(body: Uint8Array): void {
    this.#offerId = diagServerTimeBody.decode(body).offer_id
    this.#write(kinds.DIAG_CAPABILITIES.first, this.#capabilities(diagFeatures.recording))
  }

  async #begin(start: DiagStart): Promise<void> {
    this.#drop()
    const asked = {}
    this.#asked = asked
    this.#enter('asking')
    const agrees = await Promise.race([this.#agrees(start), this.#tooLate()])
    // A start or an end that came meanwhile has an answer of its own.
    if (this.#asked !== asked) return
    this.#asked = undefined
    for (const cancel of this.#cancelTimers.splice(0)) cancel()
    const recording = agrees ? this.#recordingOf(start) : undefined
    if (recording === undefined) {
      this.#say(start, 'failed')
      this.#enter('idle')
      return
    }
    this.#recording = recording
    this.#port.tap(recording.tap)
    this.#enter('recording')
    this.#say(start, 'recording')
    const cancel = this.#port.host.startTimer(recording.leftMs, () => this.#freeze())
    this.#cancelTimers.push(cancel)
    this.#reportAgain(recording)
  }

  /** Undefined where the device has no memory for it. */
  #recordingOf(start: DiagStart): Recording | undefined {
    const time = {
      now: () => this.#connection.serverNow(),
      uncertaintyMs: () => this.#connection.serverTimeUncertaintyMs,
    }
    try {
      return new Recording(start, { host: this.#port.host, time })
    } catch {
      return undefined
    }
  }

  /** Entities are nothing that a connection knows of. */
  async #agrees({ filters, deadline_utc_ms, max_bytes }: DiagStart): Promise<boolean> {
    if (filters.some(({ entity }) => entity !== null)) return false
    const now = this.#connection.serverNow() ?? this.#port.host.nowMs()
    try {
      return await this.#consent({
        kinds: filters.map(({ kind, direction }) => ({ kind, direction })),
        durationMs: Math.max(0, Math.round(deadline_utc_ms - now)),
        maxBytes: max_bytes,
      })
    } catch {
      return false
    }
  }

  /** The node has taken the recorder for failed by then. */
  #tooLate(): Promise<false> {
    return new Promise((resolve) => {
      this.#cancelTimers.push(this.#port.host.startTimer(answerMs, () => resolve(false)))
    })
  }

  #freeze(): void {
    this.#recording?.freeze()
    this.#port.tap(undefined)
    if (this.#state === 'recording') this.#enter('frozen')
  }

  #reportAgain(recording: Recording): void {
    const cancel = this.#port.host.startTimer(reportEveryMs, () => {
      if (this.#recording !== recording || this.#state !== 'recording') return
      recording.sampleAgain()
      this.#say(recording.start, 'recording')
      this.#reportAgain(recording)
    })
    this.#cancelTimers.push(cancel)
  }

  /** Uploads by the newest token; one that comes meanwhile has its turn when this one fails. */
  async #flush(flush: DiagFlush): Promise<void> {
    const recording = this.#recording
    if (recording?.start.capture_id !== flush.capture_id) return
    this.#wanted = flush
    if (this.#state === 'uploading') return
    this.#freeze()
    this.#enter('uploading')
    let isTaken = false
    while (!isTaken && this.#recording === recording && this.#wanted !== undefined) {
      const next: DiagFlush = this.#wanted
      this.#wanted = undefined
      isTaken = await this.#upload(next, recording)
    }
    if (this.#recording === recording) this.#enter(isTaken ? 'uploaded' : 'frozen')
  }

  async #upload(flush: DiagFlush, recording: Recording): Promise<boolean> {
    const { attempt, max_compressed_bytes } = flush
    try {
      const body = await recording.pack(max_compressed_bytes)
      if (this.#recording !== recording) return false
      this.#say(recording.start, 'upload_started', attempt)
      const isTaken = await this.#send(flush, body)
      if (isTaken && this.#recording === recording) this.#say(recording.start, 'uploaded', attempt)
      return isTaken
    } catch {
      return false
    }
  }

  /** It outlives its connection, but not the player's consent. */
  async #send({ path, token }: DiagFlush, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const { host, baseUrl } = this.#port
    const upload = new AbortController()
    this.#uploads.add(upload)
    const cancelTimer = host.startTimer(uploadMs, () => upload.abort())
    try {
      const { status } = await host.fetch(baseUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': lagContentType,
          'content-encoding': 'gzip',
        },
        body,
        signal: upload.signal,
      })
      return status === 204
    } finally {
      cancelTimer()
      this.#uploads.delete(upload)
    }
  }

  #say({ capture_id, generation }: DiagStart, state: DiagStatus['state'], attempt = 0): void {
    const counts = this.#recording?.counts ?? { packets: 0, dropped: 0, bytes: 0 }
    const body = diagStatusBody.encode({ capture_id, generation, state, attempt, ...counts })
    this.#write(kinds.DIAG_STATUS.first, body)
  }
}
