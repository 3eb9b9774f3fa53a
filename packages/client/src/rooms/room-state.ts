import { StateDecoder, type StatePathChange } from '@guildhall/contract/wire'

/** The state of one room as its messages say it, and who listens to what in it changes. */
export class RoomState {
  readonly #decoder = new StateDecoder()
  /** How many listeners take the changes. */
  #takers = 0

  get view(): unknown {
    return this.#decoder.view
  }

  get own(): unknown {
    return this.#decoder.own
  }

  /** Counts a listener; the answer ends it. */
  listen(call: { readonly length: number }): () => void {
    if (call.length === 1) return () => {}
    let isThere = true
    this.#takers += 1
    return () => {
      if (isThere) this.#takers -= 1
      isThere = false
    }
  }

  /**
   * Takes a message. Undefined when it says nothing of this room.
   *
   * @throws WireError for a message that cannot be read
   */
  take(body: Uint8Array, roomId: number): readonly StatePathChange[] | undefined {
    const changes: StatePathChange[] = []
    const update = this.#decoder.take(body, this.#takers > 0 ? changes : undefined)
    if (update === undefined || (update.room_id ?? roomId) !== roomId) return undefined
    return changes
  }
}
