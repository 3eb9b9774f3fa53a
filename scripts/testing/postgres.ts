import { startPostgresServer } from '../../packages/server/src/database/testing/postgres-server.ts'

/**
 * Runs a PostgreSQL of its own, with the settings given as NAME=VALUE, until a signal ends it or
 * its parent, if that has a channel to it, is gone. Nothing of it is left then.
 */
const server = await startPostgresServer(process.argv.slice(2))
let isStopping = false

async function stop(): Promise<void> {
  if (isStopping) return
  isStopping = true
  await server.dispose()
  if (process.connected) process.disconnect()
}

for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => void stop())
process.stdout.write(`ready url=${server.url('postgres')}\n`)
