import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { compareInTurn } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import { startGuildhall } from '../processes/guildhall.ts'

/** What a request costs that is authenticated and reads one row, beside Node.js doing nothing. */
export const accountRead: Benchmark = { name: 'account-read', run }

const baseline = new URL('../baselines/bare-http.ts', import.meta.url)
const connections = 64
const rounds = 9

async function run(bench: Bench): Promise<Row[]> {
  await using server = await startGuildhall(bench)
  const request = httpRequest('GET', '/v1/account', { token: await registerDevice(server.port) })
  const probe = await HttpConnection.open(server.port)
  const { body } = await probe.fetch(request)
  probe.close()
  await using bare = await startBaseline(bench, baseline, { args: [JSON.stringify(body)] })

  const load = { connections, request: () => request, status: 200, seconds: bench.seconds(1) }
  const sides = {
    product: () => runHttpLoad({ ...load, server }),
    baseline: () => runHttpLoad({ ...load, server: bare }),
    ratioOf: (ours: HttpOutcome, theirs: HttpOutcome) => ours.perCpuSecond / theirs.perCpuSecond,
  }
  const played = { rounds: bench.count(rounds) }
  const { product: ours, baseline: theirs, ratio } = await compareInTurn(sides, played)
  const unit = 'requests per CPU second'
  return [
    {
      what: `GET /v1/account, in memory, ${connections} connections`,
      product: { value: ours.perCpuSecond, unit },
      baseline: { name: 'bare node:http', value: theirs.perCpuSecond, unit },
      ratio,
      bound: { of: 'ratio', is: 'at least', limit: 0.55 },
      notes:
        `${Math.round(ours.perSecond)}/s (${shares(ours)}); ` +
        `baseline ${Math.round(theirs.perSecond)}/s (${shares(theirs)})`,
    },
  ]
}
