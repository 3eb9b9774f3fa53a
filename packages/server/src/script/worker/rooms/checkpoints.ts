import type { Clock } from '../../../kernel/clock.ts'
import type { Output } from '../output.ts'
import type { StateRoom } from './state-room.ts'

type CheckpointsDeps = {
  clock: Pick<Clock, 'monotonicMs'>
  later(ms: number, task: () => void): void
  output(): Output | undefined
  /** What was thrown, as text for the records. */
  describe(error: unknown): string
  /** A checkpoint that was not made at the end of a slice may have found changes. */
  follow(room: StateRoom, output: Output): void
}

/** Between two checkpoints of a room, in milliseconds. */
const saveEveryMs = 1_000

/** Gives the node the states of rooms that it keeps, each at most once a second. */
export class Checkpoints {
  readonly #deps: CheckpointsDeps

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps
  }

  /** Also when no change of a tracked state was noted: some are found only here. */
  save(room: StateRoom, output: Output): void {
    if (room.isSaveDue || !(room.isUnsaved || room.isTracked)) return
    const nowMs = this.#deps.clock.monotonicMs()
    const waitMs = Math.ceil(room.lastSaveMs + saveEveryMs - nowMs)
    if (waitMs > 0) {
      room.isSaveDue = true
      this.#deps.later(waitMs, () => this.#saveLate(room))
      return
    }
    room.lastSaveMs = nowMs
    this.saveNow(room, output)
  }

  saveNow(room: StateRoom, output: Output): void {
    this.#takeUntracked(room, output)
    if (!room.isUnsaved) return
    room.isUnsaved = false
    output.saved(room.room_id, room.followers.seq, room.copy.text())
  }

  #saveLate(room: StateRoom): void {
    room.isSaveDue = false
    const output = this.#deps.output()
    if (output === undefined) return
    this.save(room, output)
    this.#deps.follow(room, output)
  }

  /** What was written past the notes of a tracked state is found here; nothing else finds it. */
  #takeUntracked(room: StateRoom, output: Output): void {
    try {
      room.takeUntracked()
    } catch (error) {
      room.setState(room.copy.fresh())
      output.fault(`${room.definition.name}.state`, this.#deps.describe(error))
    }
  }
}
