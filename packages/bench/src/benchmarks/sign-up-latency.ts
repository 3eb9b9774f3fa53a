import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { emailLogin, emailSignUp, registerDevice } from '../load/accounts.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import type { Child } from '../processes/child.ts'
import { startCrowd } from '../processes/crowd.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { median, percentile } from '../statistics.ts'

/** Whether hashing passwords for newcomers is felt by those who play. */
export const signUpLatency: Benchmark = { name: 'sign-up-latency', run }

const signUpConnections = 16
const intervalMs = 2
/** So long that the compilers have settled on both paths: a hundred sign-ups or so a second. */
const warmUpSeconds = 10
/** Many and short: what else the machine does is felt in some, and the median is not theirs. */
const rounds = 11

async function run(bench: Bench): Promise<Row[]> {
  const what = `p99 of GET /v1/account while ${signUpConnections} connections sign up by email`
  // On one core, hashing included, what is felt is the server's own doing; on all cores also that
  // the load generator wants one of them at the moment when an answer does.
  await using alone = await startGuildhall(bench)
  const onItsOwn = await latenciesOf(bench, alone)
  const hash = await oneHash(bench, alone.port)
  await using beside = await startGuildhall(bench, { on: 'both' })
  const onAll = await latenciesOf(bench, beside)
  return [
    { what, ...onItsOwn, bound: { of: 'ratio', is: 'at most', limit: 2 } },
    { what: `${what}, on the load generator's core too`, ...onAll },
    hash,
  ]
}

async function latenciesOf(bench: Bench, { port }: Child): Promise<Omit<Row, 'what'>> {
  const crowdOf = (series: string) =>
    startCrowd(bench, 'newcomers', [port, signUpConnections, series])
  const request = httpRequest('GET', '/v1/account', { token: await registerDevice(port) })
  const pace = { intervalMs, seconds: bench.seconds(2) }
  const first = await crowdOf('warm-up')
  await pacedLatencies(port, request, { ...pace, seconds: bench.seconds(warmUpSeconds) })
  await first.stop()
  const unloaded: number[] = []
  const loaded: number[] = []
  let signUps = 0
  for (let round = 0; round < rounds; round += 1) {
    unloaded.push(percentile(await pacedLatencies(port, request, pace), 0.99))
    const crowd = await crowdOf(`round-${round}`)
    loaded.push(percentile(await pacedLatencies(port, request, pace), 0.99))
    signUps += await crowd.stop()
  }
  const [calm, busy] = [median(unloaded), median(loaded)]
  return {
    product: { value: busy, unit: 'ms' },
    baseline: { name: 'without sign-ups', value: calm, unit: 'ms' },
    ratio: busy / calm,
    notes:
      `medians of ${rounds} rounds (${list(unloaded)} and ${list(loaded)} ms), ` +
      `${1000 / intervalMs}/s; ${Math.round(signUps / (rounds * pace.seconds))} sign-ups/s`,
  }
}

/** A login by email, one after the other: little more than the time of one hash. */
async function oneHash(bench: Bench, port: number): Promise<Row> {
  const connection = await HttpConnection.open(port)
  await connection.fetch(emailSignUp('one-hash'))
  const request = emailLogin('one-hash')
  const times: number[] = []
  for (let login = 0; login < bench.count(100); login += 1) {
    const startMs = performance.now()
    await connection.fetch(request)
    times.push(performance.now() - startMs)
  }
  connection.close()
  const notes = `median of ${times.length}; Argon2id with the default parameters`
  return { what: 'login by email, alone', product: { value: median(times), unit: 'ms' }, notes }
}

function list(values: readonly number[]): string {
  return values.map((value) => value.toFixed(1)).join(', ')
}
