import { createSourceAddress } from '../../kernel/http/request/source-address.ts'
import { createHttpServer } from '../../kernel/http/server.ts'
import { createFeatures } from '../../node/features/features.ts'
import { joinRoutes } from '../../node/features/joined.ts'
import { createPipelineDeps } from '../../node/http/pipeline.ts'
import { type MeasuredOptions, openDeployment } from './deployment.ts'
import { type Seeds, seed } from './seeds.ts'
import { unaudited } from './unaudited.ts'

/**
 * The features over HTTP, for the benchmarks: on a database that is filled first, also one in
 * memory. It has no background tasks. If wanted, a second address serves the same without audit
 * entries: what a process owes to its luck, both owe alike.
 */
const options: MeasuredOptions & { seeds?: Seeds; unaudited?: boolean } = JSON.parse(
  process.argv[2] ?? '',
)
const { shared, ...trail } = await openDeployment(options)
const { db, clock, ids, log, config } = shared
await seed(db, options.seeds ?? {})

const served = [await serve('http', trail)]
if (options.unaudited)
  served.push(await serve('unaudited', { ...trail, audit: { ...trail.audit, ...unaudited(db) } }))
process.stdout.write(`ready ${served.map(({ fact }) => fact).join(' ')}\n`)

process.once('SIGTERM', async () => {
  for (const each of served) await each.close()
  await db.close()
  process.exit(0)
})

async function serve(name: string, own: typeof trail) {
  const features = createFeatures(shared, own)
  const server = createHttpServer({
    config: config.http,
    clock,
    log,
    ...createPipelineDeps(
      {
        ...features,
        sourceOf: createSourceAddress(config.http.trusted_proxies),
      },
      config,
    ),
    newRequestId: ids.requestId,
    routes: Object.values(joinRoutes(features)).flat(),
    documents: [],
    onServerError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  const { port } = await server.listen('127.0.0.1', 0)
  return {
    fact: `${name}=http://127.0.0.1:${port}`,
    async close() {
      await server.close(0)
      await features.hashing.stop()
    },
  }
}
