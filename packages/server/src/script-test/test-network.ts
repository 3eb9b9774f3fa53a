import { WebSocket as Socket } from 'ws'
import { atEndOfTurn } from '../kernel/clock.ts'

/** The way of one player to the node, which a test can cut. */
export type TestNetwork = {
  /** What the player's client connects with. */
  readonly WebSocket: typeof WebSocket
  /** Whether the player's client has a socket, be it one that is about to open. */
  hasSocket(): boolean
  /** Ends the connection without a word. Resolves when the node has noticed. */
  drop(): Promise<void>
}

export function createTestNetwork(): TestNetwork {
  const open = new Set<Socket>()

  class PlayerSocket extends Socket {
    constructor(url: string | URL) {
      super(url)
      open.add(this)
      this.on('close', () => open.delete(this))
    }
  }

  return {
    // Of the browser's class the client uses what both have.
    WebSocket: PlayerSocket as unknown as typeof WebSocket,
    hasSocket: () => open.size > 0,
    async drop() {
      await Promise.all([...open].map(cut))
      // Both ends are in this process: the other one hears of it within a few turns.
      for (let turn = 0; turn < turnsOfLoss; turn += 1) {
        await new Promise<void>((resolve) => atEndOfTurn(resolve))
      }
    },
  }
}

const turnsOfLoss = 20

function cut(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve())
    socket.terminate()
  })
}
