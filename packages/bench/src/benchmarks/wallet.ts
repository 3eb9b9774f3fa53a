import type { Bench, Benchmark, Bound, Row } from '../benchmark.ts'
import { httpRequest } from '../load/http-connection.ts'
import { type HttpLoad, type HttpOutcome, runHttpLoad } from '../load/http-load.ts'
import { createAccounts, signInOperator } from '../load/operator.ts'
import { compareInTurn } from '../load/rounds.ts'
import { shares } from '../load/window.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'
import { median } from '../statistics.ts'

/** Adjustments of one wallet that everybody changes, beside those of many wallets. */
export const wallets: Benchmark = { name: 'wallet', run }

const inFlight = 64
const accounts = 200
const rounds = 5
const unit = 'adjustments/s'
const hotPerSecond: Bound = { of: 'value', is: 'at least', limit: 5000 }

function run(bench: Bench): Promise<Row[]> {
  // Over HTTP first: the other leaves a trail that nobody has sealed, which a node would do first.
  return onBackends(bench, 'wallet.db', async (backend) => {
    const overHttp = await overHttpOn(bench, backend)
    return [...(await inProcessOn(bench, backend)), ...overHttp]
  })
}

/** The service as scripts call it, to which the bounds apply. */
async function inProcessOn(bench: Bench, { name, url }: MeasuredBackend): Promise<Row[]> {
  const secondsPerRound = bench.seconds(3)
  const played = bench.count(rounds)
  const options = { url, accounts, inFlight, rounds: played, secondsPerRound }
  await using program = await startMeasured(bench, 'wallets', options)
  const [spread, hot] = [figuresOf(program, 'spread'), figuresOf(program, 'hot')]
  const product = { value: median(hot), unit }
  const baseline = { name: `${accounts} wallets`, value: median(spread), unit }
  const what = `adjust one wallet in process, ${inFlight} in flight, ${name}`
  const cpu = (name: string) => `${median(figuresOf(program, name)).toFixed(0)} µs of CPU`
  const notes =
    `medians of ${played} rounds (${list(hot)}; ${list(spread)}); ` +
    `${cpu('hot_cpu_us')}, baseline ${cpu('spread_cpu_us')}`
  const ratio = product.value / baseline.value
  const row = { what, product, baseline, ratio, notes }
  const bound: Bound = { of: 'ratio', is: 'at least', limit: 0.5 }
  if (name === 'in memory') return [{ ...row, bound }]
  return [
    { ...row, bound },
    { what: `${what}: rate`, product, bound: hotPerSecond },
  ]
}

function figuresOf(program: Child, name: string): number[] {
  return program.fact(name).split(',').map(Number)
}

function list(rates: readonly number[]): string {
  return rates.map((rate) => Math.round(rate)).join(', ')
}

/** As operators do it; an answer has a hundred entries, 17 KB, which are read for it. No bound. */
async function overHttpOn(bench: Bench, { name, url }: MeasuredBackend): Promise<Row[]> {
  await using server = await startGuildhall(bench, { keys: { 'database.url': url }, on: 'both' })
  const token = await signInOperator(server.port)
  const ids = await createAccounts(server.port, token, accounts)
  const requests = ids.map((id) => adjustment(token, id))
  const sides = {
    product: () => runHttpLoad(loadOf(bench, server, requests.slice(0, 1))),
    baseline: () => runHttpLoad(loadOf(bench, server, requests)),
    ratioOf: (hot: HttpOutcome, spread: HttpOutcome) => hot.perSecond / spread.perSecond,
  }
  const played = { rounds: bench.count(rounds) }
  const { product: hot, baseline: spread, ratio } = await compareInTurn(sides, played)
  return [
    {
      what: `adjust one wallet over HTTP, ${inFlight} in flight, ${name}`,
      product: { value: hot.perSecond, unit },
      baseline: { name: `${accounts} wallets`, value: spread.perSecond, unit },
      ratio,
      notes:
        `${Math.round(hot.perCpuSecond)} per CPU second of the node (${shares(hot)}); ` +
        `baseline ${Math.round(spread.perCpuSecond)} (${shares(spread)})`,
    },
  ]
}

function loadOf(bench: Bench, server: Child, requests: readonly Buffer[]): HttpLoad {
  let sent = 0
  const request = () => {
    sent += 1
    const chosen = requests[sent % requests.length]
    if (chosen === undefined) throw new Error('there is a request')
    return chosen
  }
  return { server, connections: inFlight, request, status: 200, seconds: bench.seconds(2) }
}

function adjustment(token: string, id: string): Buffer {
  const body = { currency: 'gold', delta: 1 }
  return httpRequest('POST', `/console/v1/accounts/${id}/wallet`, { token, body })
}
