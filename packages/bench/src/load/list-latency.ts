import type { Bench } from '../benchmark.ts'
import type { Child } from '../processes/child.ts'
import { percentile } from '../statistics.ts'
import { httpRequest } from './http-connection.ts'
import { signInOperator } from './operator.ts'
import { pacedLatencies } from './paced-reads.ts'

const intervalMs = 5
const rounds = 5

export type ListLatency = {
  /** Of the round in the middle, in milliseconds. */
  p99: number
  p50: number
  /** The p99 of every round, in milliseconds, the smallest first. */
  all: number[]
  /** CPU time of the server for one read, in milliseconds; what waits does not count. */
  cpuMs: number
}

/** Reads a list of the console at a steady pace, one request at a time, in several rounds. */
export async function listLatency(
  bench: Bench,
  server: Child,
  path: string,
  wishedSeconds = 2,
): Promise<ListLatency> {
  const request = httpRequest('GET', path, { token: await signInOperator(server.port) })
  const pace = { intervalMs, seconds: bench.seconds(wishedSeconds) }
  await pacedLatencies(server.port, request, pace)
  const found: { p99: number; p50: number }[] = []
  const startCpuMs = server.cpuMs()
  let reads = 0
  for (let round = 0; round < bench.count(rounds); round += 1) {
    const latencies = await pacedLatencies(server.port, request, pace)
    reads += latencies.length
    found.push({ p99: percentile(latencies, 0.99), p50: percentile(latencies, 0.5) })
  }
  const cpuMs = (server.cpuMs() - startCpuMs) / reads
  found.sort((a, b) => a.p99 - b.p99)
  const middle = found[found.length >> 1]
  if (middle === undefined) throw new Error('there is a middle of an odd number of rounds')
  return { ...middle, all: found.map(({ p99 }) => p99), cpuMs }
}

/** E.g. `p50 0.8 ms, 0.5 ms of CPU; p99 of the rounds 1.9, 2.1, 2.2, 2.3, 4.0 ms`. */
export function describeLatency({ p50, all, cpuMs }: ListLatency): string {
  const rounds = all.map((ms) => ms.toFixed(1)).join(', ')
  return `p50 ${p50.toFixed(1)} ms, ${cpuMs.toFixed(2)} ms of CPU; p99 of the rounds ${rounds} ms`
}
