import { createServer } from 'node:net'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { httpRequest } from '../load/http-connection.ts'
import { runHttpLoad } from '../load/http-load.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { onBackends } from '../processes/backends.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { median, percentile } from '../statistics.ts'

/** What metrics cost those who play, and how long a scrape takes. */
export const metrics: Benchmark = { name: 'metrics', run }

const connections = 64
const rounds = 15
const scrapeRounds = 5
const intervalMs = 20

async function run(bench: Bench): Promise<Row[]> {
  return [await cost(bench), ...(await scrapes(bench))]
}

/** Two nodes on one core, of which one counts; each rests while the other works. */
async function cost(bench: Bench): Promise<Row> {
  await using counting = await startGuildhall(bench, { keys: keysOf(await freePort()) })
  await using plain = await startGuildhall(bench)
  const load = { connections, status: 200, seconds: bench.seconds(1.5) }
  const sideOf = async (server: typeof plain) => {
    const request = httpRequest('GET', '/v1/account', { token: await registerDevice(server.port) })
    return () => runHttpLoad({ ...load, server, request: () => request })
  }
  const [product, baseline] = [await sideOf(counting), await sideOf(plain)]
  const compared = await compareInTurn(
    { product, baseline, ratioOf: (ours, theirs) => ours.perCpuSecond / theirs.perCpuSecond },
    { rounds, warmUps: 3 },
  )
  const unit = 'requests per CPU second'
  return {
    what: `GET /v1/account with metrics, in memory, ${connections} connections`,
    product: { value: compared.product.perCpuSecond, unit },
    baseline: { name: 'without metrics', value: compared.baseline.perCpuSecond, unit },
    ratio: compared.ratio,
    bound: { of: 'ratio', is: 'at least', limit: 0.98 },
    notes: `${ratios(compared)}; ${shares(compared.product)}`,
  }
}

/** Scrapes of a node that has answered many routes. */
function scrapes(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'metrics.db', async ({ name, url }) => {
    const port = await freePort()
    const keys = { ...keysOf(port), 'database.url': url }
    await using server = await startGuildhall(bench, { keys, on: 'both' })
    const token = await registerDevice(server.port)
    const request = httpRequest('GET', '/v1/account', { token })
    await runHttpLoad({ server, connections, request: () => request, status: 200, seconds: 1 })
    const pace = { intervalMs, seconds: bench.seconds(4) }
    const scrape = httpRequest('GET', '/metrics')
    await pacedLatencies(port, scrape, pace)
    const found: number[] = []
    for (let round = 0; round < scrapeRounds; round += 1) {
      found.push(percentile(await pacedLatencies(port, scrape, pace), 0.99))
    }
    return [
      {
        what: `p99 of a scrape of the metrics, ${name}`,
        product: { value: median(found), unit: 'ms' },
        bound: { of: 'value', is: 'at most', limit: 10 },
        notes: `of ${scrapeRounds} rounds: ${found.map((ms) => ms.toFixed(1)).join(', ')} ms`,
      },
    ]
  })
}

function keysOf(port: number) {
  return {
    'metrics.enabled': true,
    'metrics.bind': `127.0.0.1:${port}`,
    'metrics.auth': 'none',
  }
}

/** The ready line does not name the metrics' port, so they are given one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}
