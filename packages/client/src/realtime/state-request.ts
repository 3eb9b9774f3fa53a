import { kinds, sessionFlags, sessionOptionsBody } from '@guildhall/contract/wire'
import type { Part, Wire } from './part.ts'

/**
 * Asks the server for the states of rooms once the game wants them, and again on each new link,
 * whose options start anew.
 */
export function createStateRequest(wire: Wire, flags: number): Part & { ask(): void } {
  let isWanted = false

  function send(): void {
    const asked = flags | sessionFlags.room_state
    wire.write(kinds.SESSION_OPTIONS.first, sessionOptionsBody.encode({ flags: asked }))
  }

  return {
    ask() {
      if (isWanted || wire.isClosed) return
      isWanted = true
      if (wire.isOpen) send()
    },
    opened() {
      if (isWanted) send()
    },
  }
}
