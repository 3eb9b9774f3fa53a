import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { httpRequest } from '../load/http-connection.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import { startCrowd } from '../processes/crowd.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'
import { median, percentile } from '../statistics.ts'

/** Lag diagnostics: what a recorder costs node and device, the analysis, and uploads for others. */
export const lag: Benchmark = { name: 'lag', run }

const rounds = 5
const uploadsAtOnce = 4
const uploadRecords = 60_000
const intervalMs = 5
/** 64 MiB. */
const records = 1_398_000

async function run(bench: Bench): Promise<Row[]> {
  return [...(await inProcess(bench)), await sdk(bench), await uploads(bench)]
}

async function inProcess(bench: Bench): Promise<Row[]> {
  const sizes = { envelopes: bench.count(2_000_000), records: bench.count(records), rounds }
  await using program = await startMeasured(bench, 'lag', { ...sizes, on: 'server' })
  const listOf = (name: string) => program.fact(name).split(',').map(Number)
  const rowOf = (what: string, name: string, { unit, limit }: { unit: string; limit: number }) => ({
    what,
    product: { value: median(listOf(name)), unit },
    bound: { of: 'value', is: 'at most', limit } as const,
    notes: `rounds ${listOf(name).join(', ')} ${unit}`,
  })
  const bare = median(listOf('bare_ns'))
  /** With its way through the queue, which it has without a recorder, too. */
  const envelopeRow = (what: string, name: string): Row => ({
    ...rowOf(what, name, { unit: 'ns', limit: 2000 }),
    baseline: { name: 'without a recorder', value: bare, unit: 'ns' },
    ratio: median(listOf(name)) / bare,
  })
  return [
    envelopeRow('queuing an envelope of a recorder, in the node', 'noted_ns'),
    envelopeRow('queuing one of another kind, with a recorder', 'passed_ns'),
    rowOf(`analysis of ${sizes.records} records on its thread`, 'analysis_ms', {
      unit: 'ms',
      limit: 2000,
    }),
  ]
}

/** The recorder of the SDK, as it is tapped for every envelope. */
async function sdk(bench: Bench): Promise<Row> {
  const options = { envelopes: bench.count(1_000_000), rounds }
  await using program = await startMeasured(bench, 'sdk-recorder', { ...options, on: 'server' })
  const took = program.fact('ns').split(',').map(Number)
  return {
    what: "an envelope of a recorder, in the SDK's ring",
    product: { value: median(took), unit: 'ns' },
    bound: { of: 'value', is: 'at most', limit: 1000 },
    notes: `rounds ${took.join(', ')} ns; bytes of heap for each: ${program.fact('bytes')}`,
  }
}

/** What others feel of uploads that come without a pause, from a process of their own. */
async function uploads(bench: Bench): Promise<Row> {
  const rawRoot = join(bench.folder, 'lag-raw')
  await mkdir(rawRoot)
  await using server = await startGuildhall(bench, {
    keys: {
      'database.url': `sqlite:${join(bench.folder, 'lag.db')}`,
      'lag_diagnostics.enabled': true,
      'lag_diagnostics.raw_root': rawRoot,
    },
  })
  const token = await registerDevice(server.port)
  const read = httpRequest('GET', '/v1/account', { token })
  const pace = { intervalMs, seconds: bench.seconds(2) }
  const calm: number[] = []
  const busy: number[] = []
  let published = 0
  await pacedLatencies(server.port, read, pace)
  // Before all uploads: their analyses go on when they are over.
  for (let round = 0; round < rounds; round += 1) {
    calm.push(percentile(await pacedLatencies(server.port, read, pace), 0.99))
  }
  for (let round = 0; round < rounds; round += 1) {
    const crowd = await startCrowd(bench, 'recorders', [server.port, uploadsAtOnce, uploadRecords])
    busy.push(percentile(await pacedLatencies(server.port, read, pace), 0.99))
    published += await crowd.stop()
  }
  return {
    what: `p99 of GET /v1/account beside ${uploadsAtOnce} uploads at once`,
    product: { value: median(busy), unit: 'ms' },
    baseline: { name: 'without uploads', value: median(calm), unit: 'ms' },
    ratio: median(busy) / median(calm),
    bound: { of: 'ratio', is: 'at most', limit: 2 },
    notes: `${published} recordings of ${uploadRecords} records published and analysed`,
  }
}
