import { keyReadEvent } from '../../kernel/audit/recorder.ts'
import { createHttpServer } from '../../kernel/http/server.ts'
import { createSourceAddress } from '../../kernel/http/source-address.ts'
import { createOperators } from '../../node/operators.ts'
import { createPeople } from '../../node/people.ts'
import { createPlayers } from '../../node/players.ts'
import type { Trail } from '../../node/trail.ts'
import { type MeasuredOptions, openDeployment } from './deployment.ts'
import { type Seeds, seed } from './seeds.ts'
import { unaudited } from './unaudited.ts'

/**
 * The console's sections about people over HTTP, for the benchmarks: on a database that is filled
 * first, also one in memory. It has no background tasks. If wanted, a second address serves the
 * same without audit entries: what a process owes to its luck, both owe alike.
 */
const options: MeasuredOptions & { seeds?: Seeds; unaudited?: boolean } = JSON.parse(
  process.argv[2] ?? '',
)
const { shared, trail } = await openDeployment(options)
const { db, clock, ids, log, config } = shared
await seed(db, options.seeds ?? {})

const served = [await serve('http', trail)]
if (options.unaudited) served.push(await serve('unaudited', { ...trail, ...unaudited(db) }))
process.stdout.write(`ready ${served.map(({ fact }) => fact).join(' ')}\n`)

process.once('SIGTERM', async () => {
  for (const each of served) await each.close()
  await db.close()
  process.exit(0)
})

async function serve(name: string, trail: Trail) {
  const players = createPlayers({
    ...shared,
    secrets: { admission: new Uint8Array(32), sessions: new Uint8Array(32) },
    onRevoked: () => {},
  })
  const operators = createOperators(shared, { trail, players })
  const people = createPeople(shared, { trail, players })
  const server = createHttpServer({
    config: config.http,
    clock,
    log,
    verifiers: {
      accessToken: players.sessions.verifyAccess,
      consoleToken: operators.verifyToken,
      apiKey: people.verifyKey,
    },
    recordKeyRead: (...read) => trail.recorder.record(keyReadEvent(...read)),
    idempotency: trail.idempotency,
    sourceOf: createSourceAddress(config.http.trusted_proxies),
    newRequestId: ids.requestId,
    routes: [...players.routes, ...operators.routes, ...people.routes],
    documents: [],
    onServerError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  const { port } = await server.listen('127.0.0.1', 0)
  return {
    fact: `${name}=http://127.0.0.1:${port}`,
    async close() {
      await server.close(0)
      await players.hashing.stop()
    },
  }
}
