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
      this.#saveIn(waitMs, room)
      return
    }
    room.lastSaveMs = nowMs
    this.saveNow(room, output)
  }

  /** The same behind a slice that holds whatever comes of it. */
  saveBehind(room: StateRoom, output: Output): void {
    try {
      this.save(room, output)
    } catch (error) {
      this.#fault(room, output, error)
    }
  }

  /** What was made for the node is lost. */
  lost(room: StateRoom): void {
    room.isUnsaved = true
    if (!room.isSaveDue) this.#saveIn(saveEveryMs, room)
  }

  saveNow(room: StateRoom, output: Output): void {
    this.#takeUntracked(room, output)
    if (!room.isUnsaved) return
    output.saved(room.room_id, room.followers.seq, room.copy.text())
    room.isUnsaved = false
  }

  #saveIn(ms: number, room: StateRoom): void {
    this.#deps.later(ms, () => this.#saveLate(room))
    // Said last: an interrupt before must not leave a room that waits for nothing.
    room.isSaveDue = true
  }

  #saveLate(room: StateRoom): void {
    room.isSaveDue = false
    const output = this.#deps.output()
    if (output === undefined || room.hasEnded) return
    this.save(room, output)
    this.#deps.follow(room, output)
  }

  /** What was written since the last slice has ended. */
  takeWritten(room: StateRoom, output: Output): void {
    this.#take(room, output, () => {
      room.takeState()
      room.acceptState()
    })
  }

  /** What was written past the notes of a tracked state is found here; nothing else finds it. */
  #takeUntracked(room: StateRoom, output: Output): void {
    this.#take(room, output, () => room.takeUntracked())
  }

  #take(room: StateRoom, output: Output, take: () => void): void {
    try {
      take()
    } catch (error) {
      room.setState(room.copy.fresh())
      this.#fault(room, output, error)
    }
  }

  #fault(room: StateRoom, output: Output, error: unknown): void {
    output.fault(`${room.definition.name}.state`, this.#deps.describe(error))
  }
}
