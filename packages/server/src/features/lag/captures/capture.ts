import {
  type CaptureState,
  type DiagStatus,
  diagFlushBody,
  diagStartBody,
  kinds,
  type LagFlushed,
  type LagSkip,
  type LagState,
  lagUploadApi,
} from '@guildhall/contract'
import type { Clock, Timer } from '../../../kernel/clock.ts'
import type { RecordingPlayers } from '../../../kernel/play/recording.ts'
import { ScriptFailure } from '../../../kernel/play/script.ts'
import { type CaptureBounds, type CaptureSpec, defaultMaxBytes } from './capture-spec.ts'
import {
  type Grant,
  isDone,
  isFlushable,
  isUploading,
  newRecorder,
  type Recorder,
  stateOf,
} from './recorder.ts'
import { createServerSide } from './server-side.ts'

export type CaptureDeps = {
  clock: Clock
  players: RecordingPlayers
  bounds: CaptureBounds
  /** Room for uploads that were granted. */
  quota: Quota
  /** The token of a grant. */
  mint(capture: Capture, recorder: Recorder, grant: Grant): string
  /** Something of it has changed. */
  changed(capture: Capture): void
}

export type Quota = {
  /** Bytes that can still be promised. */
  free(): number
  reserve(bytes: number): void
  release(bytes: number): void
}

export type FlushPlan = { asked: readonly Recorder[]; skipped: LagSkip[] }

export type CaptureStart = {
  capture_id: string
  spec: CaptureSpec
  match_id: string | null
  recorders: readonly { participant: number; session_id: string }[]
}

/** How long a client may take to answer DIAG_START. */
const answerMs = 10_000
const attemptsMax = 8
const artifactOverheadBytes = 4096
/** There is one generation of a capture. */
export const generation = 1

/**
 * The life of one capture.
 *
 * | state     | what comes next                                                                  |
 * |-----------|----------------------------------------------------------------------------------|
 * | recording | minting at a flush; expired when no flush came within the window behind the      |
 * |           | deadline, or every recorder failed or is gone                                    |
 * | minting   | flushing, once all tokens are minted and sent                                    |
 * | flushing  | minting at the next flush; sealed when nothing more can come                     |
 * | sealed, expired | final                                                                      |
 */
export class Capture {
  readonly capture_id: string
  readonly spec: CaptureSpec
  readonly match_id: string | null
  readonly created_at_unix_ms: number
  readonly deadline_unix_ms: number
  readonly recorders: ReadonlyMap<number, Recorder>
  readonly #deps: CaptureDeps
  /** All three on the monotonic clock. */
  readonly #startedMs: number
  readonly #deadlineMs: number
  readonly #endMs: number
  #state: CaptureState = 'recording'
  #timer: Timer | undefined

  constructor(deps: CaptureDeps, { capture_id, spec, match_id, recorders }: CaptureStart) {
    const { clock } = deps
    this.#deps = deps
    this.capture_id = capture_id
    this.spec = spec
    this.match_id = match_id
    this.#startedMs = clock.monotonicMs()
    this.#deadlineMs = this.#startedMs + spec.duration_ms
    this.#endMs = this.#deadlineMs + deps.bounds.flush_window_ms
    this.created_at_unix_ms = clock.nowUnixMs()
    this.deadline_unix_ms = Math.round(this.created_at_unix_ms) + spec.duration_ms
    this.recorders = new Map(
      recorders.map(({ participant, session_id }) => [
        participant,
        newRecorder(participant, session_id),
      ]),
    )
  }

  get state(): CaptureState {
    return this.#state
  }

  get isFinal(): boolean {
    return this.#state === 'sealed' || this.#state === 'expired'
  }

  /** Asks the clients to record. */
  begin(): void {
    const { players } = this.#deps
    const body = diagStartBody.encode({
      capture_id: this.capture_id,
      generation,
      deadline_utc_ms: this.deadline_unix_ms,
      max_bytes: this.spec.max_bytes,
      filters: this.spec.filters.map((filter) => ({ ...filter, entity: null })),
    })
    for (const recorder of this.recorders.values()) {
      if (recorder.status !== 'offered') continue
      if (!players.offer(recorder.participant, kinds.DIAG_START.first, body)) {
        recorder.status = 'gone'
      }
    }
    this.#changed()
  }

  /** What a client says of its recording. */
  said(recorder: Recorder, { state, packets, dropped, bytes }: DiagStatus): void {
    if (this.isFinal) return
    Object.assign(recorder, { packets, dropped, bytes })
    if (state === 'failed') this.#end(recorder, 'failed')
    else if (state === 'recording' && recorder.status === 'offered') this.#record(recorder)
    this.#changed()
  }

  /** The client takes its consent back: also an upload that is under way counts no more. */
  withdrew(recorder: Recorder): void {
    this.#end(recorder, 'failed')
    this.#changed()
  }

  /** The connection of a recorder has ended; an upload that is under way may go on. */
  left(recorder: Recorder): void {
    if (recorder.status === 'uploaded' || recorder.status === 'failed') return
    this.#stopObserving(recorder)
    if (recorder.grant?.use === 'unused') this.#release(recorder.grant)
    recorder.status = 'gone'
    this.#changed()
  }

  /**
   * Whom a flush asks, and why not the others.
   *
   * @throws ScriptFailure `conflict` when it is over, `limit_exceeded` without room for the uploads
   */
  planFlush(): FlushPlan {
    this.#settle()
    const isPastEnd = this.#deps.clock.monotonicMs() >= this.#endMs
    if (this.isFinal || isPastEnd) throw new ScriptFailure('conflict', 'the capture is over')
    const skipped: LagSkip[] = []
    const asked: Recorder[] = []
    for (const recorder of this.recorders.values()) {
      const { participant } = recorder
      if (!isFlushable(recorder)) skipped.push({ participant, reason: 'not_recording' })
      else if (recorder.attempt >= attemptsMax) skipped.push({ participant, reason: 'attempts' })
      else asked.push(recorder)
    }
    this.#expectRoom(asked)
    return { asked, skipped }
  }

  /**
   * Asks every recorder that has something to upload it.
   *
   * @throws ScriptFailure as `planFlush`
   */
  flush(): LagFlushed {
    const { asked, skipped } = this.planFlush()
    if (asked.length === 0) return { attempts: [], skipped }
    this.#state = 'minting'
    for (const recorder of asked) this.#ask(recorder)
    this.#state = 'flushing'
    this.#changed()
    const attempts = asked.map(({ participant, attempt }) => ({ participant, attempt }))
    return { attempts, skipped }
  }

  /** The recorder whose unused grant this is, which is used from here on. */
  redeem(participant: number, attempt: number): { recorder: Recorder; grant: Grant } | undefined {
    this.#settle()
    const recorder = this.recorders.get(participant)
    const grant = recorder?.grant
    if (this.#state !== 'flushing' || recorder === undefined || grant === undefined)
      return undefined
    if (grant.use !== 'unused' || grant.attempt !== attempt) return undefined
    grant.use = 'uploading'
    recorder.uploads.add(grant)
    return { recorder, grant }
  }

  /** An upload has ended: its recording is published, or it has come to nothing. */
  uploadEnded(recorder: Recorder, grant: Grant, published: boolean): void {
    recorder.uploads.delete(grant)
    this.#release(grant)
    if (published) {
      this.#void(recorder)
      recorder.status = 'uploaded'
    }
    this.#changed()
  }

  /** The node stops; what is not final is left for the next boot. */
  stop(): void {
    this.#timer?.cancel()
    for (const recorder of this.recorders.values()) this.#stopObserving(recorder)
  }

  describe(): LagState {
    return {
      capture_id: this.capture_id,
      state: this.#state,
      deadline_unix_ms: this.deadline_unix_ms,
      recorders: Array.from(this.recorders.values(), stateOf),
    }
  }

  #record(recorder: Recorder): void {
    const { clock, players } = this.#deps
    recorder.status = 'recording'
    recorder.server = createServerSide(clock, this.spec.filters)
    players.observe(recorder.participant, recorder.server.observer)
  }

  #ask(recorder: Recorder): void {
    const { clock, players, bounds, quota } = this.#deps
    if (recorder.grant?.use === 'unused') this.#release(recorder.grant)
    this.#stopObserving(recorder)
    recorder.attempt += 1
    const grant: Grant = {
      attempt: recorder.attempt,
      expiresMs: clock.monotonicMs() + bounds.flush_window_ms,
      reservedBytes: this.#grantBytes(),
      use: 'unused',
    }
    quota.reserve(grant.reservedBytes)
    recorder.grant = grant
    recorder.status = 'flushing'
    const body = diagFlushBody.encode({
      capture_id: this.capture_id,
      generation,
      attempt: grant.attempt,
      deadline_utc_ms: Math.round(clock.nowUnixMs()) + bounds.flush_window_ms,
      max_compressed_bytes: bounds.max_compressed_bytes,
      path: lagUploadApi.upload.path,
      token: this.#deps.mint(this, recorder, grant),
    })
    players.send(recorder.participant, kinds.DIAG_FLUSH.first, body)
  }

  /** What one upload may take: its gzip may be a little larger than what it packs. */
  #grantBytes(): number {
    const { max_bytes = defaultMaxBytes } = this.spec
    return Math.min(this.#deps.bounds.max_compressed_bytes, max_bytes + artifactOverheadBytes)
  }

  #expectRoom(asked: readonly Recorder[]): void {
    const given = asked.filter(({ grant }) => grant?.use === 'unused').length
    const needed = (asked.length - given) * this.#grantBytes()
    if (needed > this.#deps.quota.free()) {
      throw new ScriptFailure('limit_exceeded', 'there is no room for the uploads')
    }
  }

  #end(recorder: Recorder, status: 'failed'): void {
    if (recorder.status === 'uploaded') return
    this.#stopObserving(recorder)
    this.#void(recorder)
    recorder.status = status
  }

  /** Takes its grants back; an upload under way that loses its own is not published. */
  #void({ grant, uploads }: Recorder): void {
    if (grant !== undefined) this.#release(grant)
    for (const upload of uploads) this.#release(upload)
    uploads.clear()
  }

  #release(grant: Grant): void {
    if (grant.use === 'over') return
    grant.use = 'over'
    this.#deps.quota.release(grant.reservedBytes)
  }

  #stopObserving({ participant, status, server }: Recorder): void {
    if (server !== undefined && status === 'recording') {
      this.#deps.players.observe(participant, undefined)
    }
  }

  #changed(): void {
    this.#settle()
    this.#deps.changed(this)
  }

  /** Does what is due by now, and wakes up when the next of it is. */
  #settle(): void {
    if (this.isFinal) return
    const nowMs = this.#deps.clock.monotonicMs()
    const due: number[] = []
    const at = (dueMs: number): boolean => {
      if (dueMs > nowMs) due.push(dueMs)
      return dueMs <= nowMs
    }
    const isPastDeadline = at(this.#deadlineMs)
    for (const recorder of this.recorders.values()) {
      const { status, grant } = recorder
      if (status === 'offered' && at(this.#startedMs + answerMs)) this.#end(recorder, 'failed')
      // The client has stopped; what the node still sends it would make its side look longer.
      else if (status === 'recording' && isPastDeadline) this.#stopObserving(recorder)
      else if (status === 'flushing' && grant !== undefined && at(grant.expiresMs)) {
        this.#expire(recorder, grant)
      }
    }
    this.#finishIf(at(this.#endMs), nowMs)
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.isFinal || due.length === 0) return
    this.#timer = this.#deps.clock.after(Math.min(...due) - nowMs, () => this.#changed())
  }

  /** An earlier upload may still be under way. */
  #expire(recorder: Recorder, grant: Grant): void {
    if (grant.use === 'unused') this.#release(grant)
    if (!isUploading(recorder)) recorder.status = 'missed'
  }

  #finishIf(isPastEnd: boolean, nowMs: number): void {
    const recorders = [...this.recorders.values()]
    const isAllDone = recorders.every(isDone)
    if (this.#state === 'recording') {
      if (isAllDone || isPastEnd) this.#finish('expired')
      return
    }
    const isWaiting = recorders.some((recorder) => {
      const { expiresMs = 0 } = recorder.grant ?? {}
      return isUploading(recorder) || (!isDone(recorder) && expiresMs > nowMs)
    })
    if (isAllDone || (isPastEnd && !isWaiting)) this.#finish('sealed')
  }

  #finish(state: 'sealed' | 'expired'): void {
    this.#state = state
    for (const recorder of this.recorders.values()) {
      this.#stopObserving(recorder)
      this.#void(recorder)
    }
  }
}
