import { createServer } from 'node:net'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { httpRequest } from '../load/http-connection.ts'
import { runHttpLoad } from '../load/http-load.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { startGuildhall } from '../processes/guildhall.ts'

/** What metrics cost those who play. */
export const metrics: Benchmark = { name: 'metrics', run }

const connections = 64
const rounds = 15

/** Two nodes on one core, of which one counts; each rests while the other works. */
async function run(bench: Bench): Promise<Row[]> {
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
  return [
    {
      what: `GET /v1/account with metrics, in memory, ${connections} connections`,
      product: { value: compared.product.perCpuSecond, unit },
      baseline: { name: 'without metrics', value: compared.baseline.perCpuSecond, unit },
      ratio: compared.ratio,
      bound: { of: 'ratio', is: 'at least', limit: 0.98 },
      notes: `${ratios(compared)}; ${shares(compared.product)}`,
    },
  ]
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
