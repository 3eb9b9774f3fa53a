import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createPlayer } from '@guildhall/client'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { recordLag } from '@guildhall/client/lag'
import { encodeLagHeader, lagFlags, lagHeaderBytes, lagRecordBytes } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { registerDevice } from '../load/accounts.ts'
import { httpRequest } from '../load/http-connection.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
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
  return [
    rowOf('an envelope of a recorder, in the node', 'noted_ns', { unit: 'ns', limit: 2000 }),
    rowOf('one of another kind, with a recorder', 'passed_ns', { unit: 'ns', limit: 2000 }),
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

/** What others feel of four uploads at once, which come one after another without a pause. */
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
  const url = `http://127.0.0.1:${server.port}`
  const client = createConsoleClient(url)
  await client.signIn({ username: 'admin', password: 'password' })
  const token = await registerDevice(server.port)
  const read = httpRequest('GET', '/v1/account', { token })
  const pace = { intervalMs, seconds: bench.seconds(2) }
  const calm: number[] = []
  const busy: number[] = []
  const crowd = await openCrowd(url)
  let published = 0
  for (let round = 0; round < rounds; round += 1) {
    calm.push(percentile(await pacedLatencies(server.port, read, pace), 0.99))
    let isOver = false
    const uploading = (async () => {
      while (!isOver) published += await crowd.upload(client)
    })()
    busy.push(percentile(await pacedLatencies(server.port, read, pace), 0.99))
    isOver = true
    await uploading
  }
  await crowd.close()
  return {
    what: `p99 of GET /v1/account beside ${uploadsAtOnce} uploads at once`,
    product: { value: median(busy), unit: 'ms' },
    baseline: { name: 'without uploads', value: median(calm), unit: 'ms' },
    ratio: median(busy) / median(calm),
    bound: { of: 'ratio', is: 'at most', limit: 2 },
    notes: `${published} recordings of ${uploadRecords} records published and analysed`,
  }
}

/** Players whose uploads are as large as the benchmark wants them. */
async function openCrowd(url: string) {
  let answered = 0
  const send: typeof fetch = async (input, init) => {
    if (!String(input).endsWith('/captures/upload')) return fetch(input, init)
    const answer = await fetch(input, { ...init, body: bodyOf(captureId) })
    answered += 1
    if (answer.status !== 204) throw new Error('an upload was refused')
    return answer
  }
  let captureId = ''
  const connections = await Promise.all(
    Array.from({ length: uploadsAtOnce }, async (_, index) => {
      const player = createPlayer(url, { fetch: send })
      const id = `recorder-${index}`
      await player.signIn.device({ id, create: true, username: id })
      const connection = await player.connect({ transport: 'websocket' })
      recordLag(connection, { consent: () => true })
      return connection
    }),
  )
  const participants = connections.map(({ participant }) => participant)
  return {
    /** A capture from its start to its last upload; how many there were. */
    async upload(client: ConsoleClient): Promise<number> {
      const filters = [{ kind: 100, direction: 'inbound' }]
      const options = { participants, filters, duration_ms: 60_000, max_bytes: 67_108_864 }
      answered = 0
      const started: { capture_id: string } = await until(
        () => ask(client, 'lag.start', options),
        (reply) => reply !== undefined,
      )
      captureId = started.capture_id
      const one = { capture_id: captureId }
      await until(
        () => ask(client, 'lag.status', one),
        ({ recorders }) => recorders.every(({ status }: Recorder) => status === 'recording'),
      )
      await ask(client, 'lag.flush', one)
      await until(
        async () => answered,
        (count) => count === uploadsAtOnce,
      )
      return answered
    },
    close: () => Promise.all(connections.map((connection) => connection.close())),
  }
}

type Recorder = { status: string }

async function until<T>(read: () => Promise<T>, isThere: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isThere(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** What is answered, undefined for a refusal. */
async function ask(client: ConsoleClient, method: string, payload: object) {
  const body = { payload: JSON.stringify(payload) }
  const answer = await client.runtime.rpc({ params: { method }, body })
  return answer.ok ? JSON.parse(answer.reply) : undefined
}

const packed = new Map<string, Uint8Array<ArrayBuffer>>()

/** Records that compress badly, as spacings do. */
function bodyOf(captureId: string): Uint8Array<ArrayBuffer> {
  const known = packed.get(captureId)
  if (known !== undefined) return known
  const bytes = Buffer.alloc(lagHeaderBytes + uploadRecords * lagRecordBytes)
  bytes.set(
    encodeLagHeader({
      flags: lagFlags.metadata,
      record_count: uploadRecords,
      accepted: uploadRecords,
      overwritten: 0,
      skipped_by_filter: 0,
      skipped_as_malformed: 0,
      capture_id: captureId,
      generation: 1,
      clock_uncertainty_us: 0,
      server_utc_us: 0,
      clock_samples: [],
    }),
  )
  for (let index = 0; index < uploadRecords; index += 1) {
    const at = lagHeaderBytes + index * lagRecordBytes
    bytes.writeUInt32BE(index * 2000 + ((index * 7919) % 1999), at)
    bytes.writeUInt16BE(100, at + 4)
    bytes.writeUInt8(2, at + 7)
    bytes.writeUInt32BE((index * 31) % 997, at + 8)
  }
  packed.clear()
  packed.set(captureId, new Uint8Array(gzipSync(bytes, { level: 1 })))
  return bodyOf(captureId)
}
