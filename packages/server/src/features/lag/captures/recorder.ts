import type { LagState, RecorderStatus } from '@guildhall/contract'
import type { EnvelopeObserver } from '../../../kernel/play/recording.ts'
import type { ServerSide } from './server-side.ts'

/**
 * One client that takes part in a capture.
 *
 * | status    | entered when                                                              |
 * |-----------|---------------------------------------------------------------------------|
 * | offered   | DIAG_START was sent                                                       |
 * | recording | DIAG_STATUS 1 came                                                        |
 * | failed    | DIAG_STATUS 4 or a withdrawal came, or nothing within 10 s of DIAG_START  |
 * | flushing  | DIAG_FLUSH was sent                                                       |
 * | uploaded  | its recording was published                                               |
 * | missed    | the upload deadline passed; the next flush takes it back                  |
 * | gone      | its connection ended; an upload under way may still make it uploaded      |
 */
export type Recorder = {
  readonly participant: number
  readonly session_id: string
  status: RecorderStatus
  /** The number of its newest grant; 0 before the first. */
  attempt: number
  /** What the client said last of its ring. */
  packets: number
  dropped: number
  bytes: number
  /** The newest grant, once there was a flush. */
  grant: Grant | undefined
  /** Grants whose uploads are under way: a flush may come meanwhile. */
  readonly uploads: Set<Grant>
  /** Counts the server's side; undefined before the client records. */
  server: { observer: EnvelopeObserver; counted(): ServerSide } | undefined
}

/** The right to upload once. */
export type Grant = {
  readonly attempt: number
  /** On the monotonic clock. */
  readonly expiresMs: number
  /** Room that is kept for it; grows with an upload that takes more. */
  reservedBytes: number
  use: 'unused' | 'uploading' | 'over'
}

/** Statuses of which a participant can be in one capture only. */
const busyStatuses: ReadonlySet<RecorderStatus> = new Set([
  'offered',
  'recording',
  'flushing',
  'missed',
])
const flushable: ReadonlySet<RecorderStatus> = new Set(['recording', 'flushing', 'missed'])

export function newRecorder(participant: number, session_id: string): Recorder {
  return {
    participant,
    session_id,
    status: 'offered',
    attempt: 0,
    packets: 0,
    dropped: 0,
    bytes: 0,
    grant: undefined,
    uploads: new Set(),
    server: undefined,
  }
}

export function isBusy({ status }: Recorder): boolean {
  return busyStatuses.has(status)
}

export function isFlushable({ status }: Recorder): boolean {
  return flushable.has(status)
}

export function isUploading({ uploads }: Recorder): boolean {
  return uploads.size > 0
}

/** Whether nothing more is expected of it. */
export function isDone(recorder: Recorder): boolean {
  const { status } = recorder
  const isOver = status === 'uploaded' || status === 'failed' || status === 'gone'
  return isOver && !isUploading(recorder)
}

export function stateOf(recorder: Recorder): LagState['recorders'][number] {
  const { participant, status, attempt, packets, dropped, bytes } = recorder
  return { participant, status, attempt, packets, dropped, bytes }
}
