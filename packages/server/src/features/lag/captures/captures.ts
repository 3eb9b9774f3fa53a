import {
  type CaptureState,
  captureStates,
  type LagFlushed,
  type LagStart,
  type LagStarted,
  type LagState,
} from '@guildhall/contract'
import type { Transaction } from '../../../database/database.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Ids } from '../../../kernel/ids.ts'
import type { Mutate, Mutation } from '../../../kernel/mutation.ts'
import type { RecordingPlayers } from '../../../kernel/play/recording.ts'
import { ScriptFailure } from '../../../kernel/play/script.ts'
import { bootTag, mintToken, readToken, sessionTag } from '../uploads/upload-token.ts'
import { findCandidates } from './candidates.ts'
import { Capture, type CaptureDeps, generation, type Quota } from './capture.ts'
import { type CaptureBounds, type CaptureSpec, readSpec } from './capture-spec.ts'
import { type CaptureRow, capturesStore } from './captures.store.ts'
import { type Grant, isBusy, type Recorder } from './recorder.ts'

export type CapturesDeps = {
  clock: Clock
  ids: Pick<Ids, 'bytes' | 'uuid7'>
  nodeId: string
  bootId: string
  players: RecordingPlayers
  bounds: CaptureBounds
  quota: Quota
  mutate: Mutate<Transaction>
  /** Takes the newest state of a capture. */
  write(row: CaptureRow): void
}

export type Captures = ReturnType<typeof createCaptures>

/** An upload that a token allows, until it has ended. */
export type Redeemed = { capture: Capture; recorder: Recorder; grant: Grant }

/** Captures of this boot that are over and whose last state is still known. */
const finishedMax = 4096

/** The captures of this boot of this node. */
export function createCaptures(deps: CapturesDeps) {
  const { clock, players, bounds, mutate } = deps
  const active = new Map<string, Capture>()
  const finished = new Map<string, LagState>()
  const finals: Record<'sealed' | 'expired', number> = { sealed: 0, expired: 0 }
  const key = deps.ids.bytes(32)
  const boot_tag = bootTag(deps.bootId)
  const captureDeps: CaptureDeps = { ...deps, mint, changed }

  function mint(capture: Capture, recorder: Recorder, grant: Grant): string {
    const { participant, session_id } = recorder
    const leftMs = grant.expiresMs - clock.monotonicMs()
    return mintToken(key, {
      capture_id: capture.capture_id,
      generation,
      attempt: grant.attempt,
      participant,
      room_id: players.find(participant)?.room_id ?? 0,
      expires_at_unix_ms: Math.round(clock.nowUnixMs() + leftMs),
      max_compressed_bytes: bounds.max_compressed_bytes,
      max_bytes: capture.spec.max_bytes,
      session_tag: sessionTag(session_id),
      boot_tag,
    })
  }

  function changed(capture: Capture): void {
    const { capture_id, state } = capture
    if (!active.has(capture_id)) return
    deps.write(rowOf(capture, deps))
    if (state !== 'sealed' && state !== 'expired') return
    active.delete(capture_id)
    finals[state] += 1
    finished.set(capture_id, capture.describe())
    const [oldest] = finished.keys()
    if (finished.size > finishedMax && oldest !== undefined) finished.delete(oldest)
  }

  function isRecording(participant: number): boolean {
    return Iterator.from(active.values()).some(({ recorders }) => {
      const recorder = recorders.get(participant)
      return recorder !== undefined && isBusy(recorder)
    })
  }

  function eachOf(participant: number, act: (capture: Capture, recorder: Recorder) => void): void {
    for (const capture of [...active.values()]) {
      const recorder = capture.recorders.get(participant)
      if (recorder !== undefined) act(capture, recorder)
    }
  }

  players.listen({
    said(participant, status) {
      if (status.generation !== generation) return false
      const capture = active.get(status.capture_id)
      const recorder = capture?.recorders.get(participant)
      if (recorder !== undefined) capture?.said(recorder, status)
      // A client cannot know that its upload was the last one that the capture waited for.
      return recorder !== undefined || tookPart(finished.get(status.capture_id), participant)
    },
    withdrew: (participant) => eachOf(participant, (capture, own) => capture.withdrew(own)),
    left: (participant) => eachOf(participant, (capture, own) => capture.left(own)),
  })

  async function start(mutation: Mutation, options: LagStart): Promise<LagStarted> {
    const spec = readSpec(options, bounds)
    if (active.size >= bounds.max_active_captures) {
      throw new ScriptFailure('limit_exceeded', 'too many captures are active')
    }
    const found = findCandidates(options, {
      players,
      participantsMax: bounds.max_participants,
      isBusy: isRecording,
    })
    const { recorders, skipped, match_id } = found
    const capture_id = deps.ids.uuid7()
    const capture = new Capture(captureDeps, { capture_id, spec, match_id, recorders })
    active.set(capture_id, capture)
    try {
      await mutate(mutation, async (tx) => {
        await capturesStore.insert(tx, rowOf(capture, deps))
        return { answer: undefined, target: capture_id, details: countsOf(found, spec) }
      })
    } catch (error) {
      active.delete(capture_id)
      capture.stop()
      throw error
    }
    capture.begin()
    return { capture_id, started: recorders.map(({ participant }) => participant), skipped }
  }

  async function flush(mutation: Mutation, captureId: string): Promise<LagFlushed> {
    const capture = active.get(captureId)
    if (capture === undefined) {
      if (finished.has(captureId)) throw new ScriptFailure('conflict', 'the capture is over')
      throw new ScriptFailure('not_found', 'there is no such capture')
    }
    const { asked, skipped } = capture.planFlush()
    const details = `asked=${asked.length} skipped=${skipped.length}`
    const entry = { answer: undefined, target: captureId, details }
    await mutate(mutation, async () => entry, { isolation: 'read committed' })
    // Only now: nobody is asked without an entry that says so.
    return capture.flush()
  }

  return {
    start,
    flush,
    status: (captureId: string): LagState | null =>
      active.get(captureId)?.describe() ?? finished.get(captureId) ?? null,

    /** The upload that a token allows, which is used from here on; undefined for any other text. */
    redeem(token: string): Redeemed | undefined {
      const claims = readToken(key, token)
      if (claims === undefined || claims.boot_tag !== boot_tag) return undefined
      const capture = active.get(claims.capture_id)
      const recorder = capture?.recorders.get(claims.participant)
      if (capture === undefined || recorder === undefined) return undefined
      if (claims.session_tag !== sessionTag(recorder.session_id)) return undefined
      if (claims.generation !== generation) return undefined
      const redeemed = capture.redeem(claims.participant, claims.attempt)
      return redeemed && { capture, ...redeemed }
    },

    /** How many captures of this boot there are, by state. */
    counts(): Record<CaptureState, number> {
      const counts = Object.fromEntries(captureStates.map((state) => [state, 0]))
      for (const { state } of active.values()) counts[state] = (counts[state] ?? 0) + 1
      return { recording: 0, minting: 0, flushing: 0, ...counts, ...finals }
    },

    stop(): void {
      for (const capture of active.values()) capture.stop()
    },
  }
}

function tookPart(state: LagState | undefined, participant: number): boolean {
  return state?.recorders.some((recorder) => recorder.participant === participant) ?? false
}

function countsOf(
  { recorders, skipped }: { recorders: readonly unknown[]; skipped: readonly unknown[] },
  { filters }: CaptureSpec,
): string {
  return `recorders=${recorders.length} skipped=${skipped.length} filters=${filters.length}`
}

function rowOf(capture: Capture, { nodeId, bootId }: CapturesDeps): CaptureRow {
  const { capture_id, state, spec, match_id } = capture
  const counts = {
    offered: 0,
    recording: 0,
    failed: 0,
    flushing: 0,
    uploaded: 0,
    missed: 0,
    gone: 0,
  }
  for (const { status } of capture.recorders.values()) counts[status] += 1
  return {
    capture_id,
    generation,
    state,
    created_at_unix_ms: Math.round(capture.created_at_unix_ms),
    deadline_unix_ms: capture.deadline_unix_ms,
    label: spec.label,
    node_id: nodeId,
    boot_id: bootId,
    match_id,
    filters_json: JSON.stringify(spec.filters),
    ...counts,
  }
}
