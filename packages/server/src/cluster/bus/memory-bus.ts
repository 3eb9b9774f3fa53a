import { atEndOfTurn } from '../../kernel/clock.ts'
import type { Bus, BusEvents } from '../../kernel/cluster/bus.ts'

/** Joins the nodes of one process: for tests. */
export type MemoryNetwork = { connect(boot: string): Bus }

export function createMemoryNetwork(): MemoryNetwork {
  const listeners = new Map<string, BusEvents>()

  function deliver(boot: string, message: Uint8Array): void {
    const copy = message.slice()
    atEndOfTurn(() => listeners.get(boot)?.received(copy))
  }

  return {
    connect: (boot) => ({
      async start(events) {
        listeners.set(boot, events)
      },
      send: deliver,
      sendAll(message) {
        for (const other of listeners.keys()) if (other !== boot) deliver(other, message)
      },
      get isUp() {
        return listeners.has(boot)
      },
      waitingBytes: 0,
      async close() {
        listeners.delete(boot)
      },
    }),
  }
}
