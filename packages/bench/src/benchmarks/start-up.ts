import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { median } from '../statistics.ts'

/** How long a node takes from nothing to serving. */
export const startUp: Benchmark = { name: 'start-up', run }

async function run(bench: Bench): Promise<Row[]> {
  const compileCache = mkdtempSync(join(bench.folder, 'compile-cache-'))
  const first = await start(bench, compileCache)
  const starts: Start[] = []
  for (let round = 0; round < bench.count(10); round += 1) {
    starts.push(await start(bench, compileCache))
  }
  const line = median(starts.map(({ lineMs }) => lineMs))
  const health = median(starts.map(({ healthMs }) => healthMs))
  return [
    {
      what: 'process start to the first 200 of /health/ready, in memory',
      product: { value: health, unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: 700 },
      notes:
        `median of ${starts.length}, the ready line after ${line.toFixed(0)} ms; ` +
        `the first start, with an empty compile cache, ${first.healthMs.toFixed(0)} ms`,
    },
  ]
}

type Start = { lineMs: number; healthMs: number }

async function start(bench: Bench, compileCache: string): Promise<Start> {
  const startMs = performance.now()
  await using server = await startGuildhall(bench, { env: { NODE_COMPILE_CACHE: compileCache } })
  const lineMs = server.readyMs
  const connection = await HttpConnection.open(server.port)
  const { status } = await connection.fetch(httpRequest('GET', '/health/ready'))
  const healthMs = performance.now() - startMs
  connection.close()
  if (status !== 200) throw new Error(`/health/ready answered ${status} behind the ready line`)
  return { lineMs, healthMs }
}
