import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { pinned } from '../processes/cores.ts'
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
    ...(await releaseRows(bench)),
  ]
}

const game = fileURLToPath(new URL('../../game-calls', import.meta.url))

/** The ready line of a release, beside a Node.js that does nothing. */
async function releaseRows(bench: Bench): Promise<Row[]> {
  const folder = join(bench.folder, 'release')
  const make = join(bench.checkout, 'scripts/release.ts')
  await promisify(execFile)(process.execPath, [make, '--folder', folder])
  const program = join(folder, 'bin/guildhall')
  const scripted = { 'runtime.scripts_dir': game, 'runtime.require_script': true }
  return [
    await releaseRow(bench, program, { what: 'a release', keys: {}, limit: 2.5 }),
    await releaseRow(bench, program, { what: 'one with a script', keys: scripted, limit: 4 }),
  ]
}

type Form = { what: string; keys: Readonly<Record<string, string | boolean>>; limit: number }

async function releaseRow(bench: Bench, program: string, form: Form): Promise<Row> {
  const compared = await compareInTurn(
    {
      async product() {
        await using server = await startGuildhall(bench, { program, keys: form.keys, on: 'both' })
        return server.readyMs
      },
      baseline: () => nothingMs(bench),
      ratioOf: (ours: number, theirs: number) => ours / theirs,
    },
    { rounds: bench.count(10) },
  )
  return {
    what: `process start to the ready line of ${form.what}, in memory`,
    product: { value: compared.product, unit: 'ms' },
    baseline: { name: 'node -e 0', value: compared.baseline, unit: 'ms' },
    ratio: compared.ratio,
    bound: { of: 'ratio', is: 'at most', limit: form.limit },
    notes: ratios(compared),
  }
}

async function nothingMs({ cores }: Bench): Promise<number> {
  const places = cores && Object.values(cores)
  const [command, ...args] = pinned([process.execPath, '-e', '0'], places)
  const startMs = performance.now()
  await promisify(execFile)(command, args)
  return performance.now() - startMs
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
