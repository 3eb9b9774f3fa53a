import type { Clock } from '../../../kernel/clock.ts'
import { Connection, type ConnectionOptions } from './connection.ts'

export type Probe = {
  /** Whether the server answered within a second and takes writes. */
  answers(): Promise<boolean>
  close(): Promise<void>
}

const timeoutMs = 1000

/** Asks over a connection of its own, so that busy ones do not make the server look dead. */
export function createProbe(deps: { options: ConnectionOptions; clock: Clock }): Probe {
  const options = { ...deps.options, connectTimeoutMs: timeoutMs }
  let connection: Connection | undefined

  async function ask(): Promise<boolean> {
    if (!connection?.alive) connection = await Connection.open(options)
    const asked = connection
    const timer = deps.clock.after(timeoutMs, () => asked.destroy())
    try {
      const answer = await asked.command("SELECT current_setting('transaction_read_only')")
      const writable = answer.rows[0]?.[0] === 'off'
      // The way to a server that takes writes again may lead to another server.
      if (!writable) asked.destroy()
      return writable
    } finally {
      timer.cancel()
    }
  }

  return {
    answers: () => ask().catch(() => false),
    async close() {
      await connection?.close()
    },
  }
}
