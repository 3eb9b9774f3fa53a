import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import {
  LagFlushed,
  type LagStart,
  LagStarted,
  LagState,
  lagApi,
  lagContentType,
  RpcAnswer,
} from '@guildhall/contract'
import type { z } from 'zod'
import type { Database } from '../../database/database.ts'
import type { TestBackend } from '../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../kernel/clock.fake.ts'
import { openTestApi, type TestApi } from '../../testing/api.ts'
import { type Operator, openOperator, viewerKeys } from '../../testing/operator.ts'
import { artifact, type TestRecord } from './analysis/artifact.fixture.ts'
import { createFakeRecording, type FakeRecording } from './recording.fake.ts'

export const uploadPath = '/v1/diagnostics/captures/upload'
export const filters: LagStart['filters'] = [{ kind: 100, direction: 'inbound' }]

/** Options of a capture as they are sent. */
type Options = Partial<z.input<ReturnType<typeof import('@guildhall/contract').LagStart>>>

export type LagScenario = {
  api: TestApi
  db: Database
  operator: Operator
  clock: FakeClock
  recording: FakeRecording
  rawRoot: string
  /** What went to the error journal. */
  readonly journal: unknown[]
  /** Ends the node as a crash does, and starts it anew over the same store and folder. */
  restart(config?: Record<string, string>): Promise<void>
  rpc(method: string, payload: unknown): Promise<RpcAnswer>
  start(options?: Options): Promise<LagStarted>
  flush(captureId: string): Promise<LagFlushed>
  status(captureId: string): Promise<LagState | null>
  /** Uploads with the newest token of a participant. */
  upload(participant: number, how?: Upload): Promise<Response>
  /** Starts a capture of participant 1, records, flushes and uploads; its id and handle. */
  recorded(records?: readonly TestRecord[], options?: Options): Promise<Recorded>
  files(): string[]
  dispose(): Promise<void>
}

export type Upload = {
  records?: readonly TestRecord[]
  body?: Uint8Array<ArrayBuffer> | ReadableStream
  token?: string
  headers?: Record<string, string>
}

type Recorded = { capture_id: string; handle: string }

export async function openLag(
  backend: TestBackend,
  keys: Record<string, string> = {},
): Promise<LagScenario> {
  const clock = createFakeClock()
  // The database lives by the system's clock: its timers would make a leap of days take minutes.
  const test = await backend.open({ config: { max_connections: 8 } })
  const rawRoot = mkdtempSync(join(tmpdir(), 'guildhall-lag-'))
  const lagKeys = {
    'database.url': test.url,
    'lag_diagnostics.enabled': 'true',
    'lag_diagnostics.raw_root': rawRoot,
    ...viewerKeys,
  }

  const journal: unknown[] = []

  async function open(config: Record<string, string>) {
    const recording = createFakeRecording()
    const api = await openTestApi({
      db: test.db,
      clock,
      recording: recording.players,
      journal: {
        record({ error }) {
          journal.push(error)
          return ''
        },
      },
      config: { ...lagKeys, ...config },
    })
    await api.features.lag.afterClaim?.()
    return { api, recording, operator: await openOperator(api) }
  }

  let node = await open(keys)
  const scenario = {
    get api() {
      return node.api
    },
    get operator() {
      return node.operator
    },
    get recording() {
      return node.recording
    },
    db: test.db,
    clock,
    rawRoot,
    journal,
    async restart(config: Record<string, string> = keys) {
      await node.api.close()
      node = await open(config)
    },
    async rpc(method: string, payload: unknown) {
      const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
      const answer = await node.operator.send('POST', `/runtime/rpc/${method}`, { payload: text })
      return RpcAnswer().parse(answer.body)
    },
    start: async (options: Options = {}) =>
      LagStarted().parse(
        replyOf(
          await scenario.rpc('lag.start', {
            participants: [1],
            filters,
            duration_ms: 10_000,
            ...options,
          }),
        ),
      ),
    flush: async (capture_id: string) =>
      LagFlushed().parse(replyOf(await scenario.rpc('lag.flush', { capture_id }))),
    status: async (capture_id: string) =>
      LagState()
        .nullable()
        .parse(replyOf(await scenario.rpc('lag.status', { capture_id }))),
    upload(participant: number, how: Upload = {}) {
      const flush = () => node.recording.flushOf(participant)
      const token = how.token ?? flush().token
      const body = how.body ?? packed(how.records, flush)
      return fetch(node.api.url + uploadPath, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': lagContentType,
          'content-encoding': 'gzip',
          ...how.headers,
        },
        body,
        duplex: 'half',
      })
    },
    async recorded(records?: readonly TestRecord[], options: Options = {}) {
      if (!node.recording.connected.has(1)) node.recording.join(1)
      const { capture_id } = await scenario.start(options)
      node.recording.say(1, { capture_id })
      await scenario.flush(capture_id)
      const { status } = await scenario.upload(1, records && { records })
      if (status !== 204) throw new Error(`the upload was answered with ${status}`)
      const answer = await node.operator.send('GET', `/lag/captures/${capture_id}/raw`)
      const [first] = lagApi.raw.ok.parse(answer.body).items
      if (first === undefined) throw new Error('nothing was kept')
      return { capture_id, handle: first.handle }
    },
    files: () => (existsSync(rawRoot) ? filesOf(rawRoot) : []),
    async dispose() {
      await node.api.close()
      await test.dispose()
      rmSync(rawRoot, { recursive: true, force: true })
    },
  }
  return scenario
}

/** The recording of a capture, compressed. */
function packed(records: Upload['records'], flush: () => { capture_id: string }) {
  const { capture_id } = flush()
  const recorded = records ?? [{ elapsed_us: 50_000 }, { elapsed_us: 100_400 }]
  return new Uint8Array(gzipSync(artifact({ records: recorded, header: { capture_id } })))
}

export function replyOf(answer: RpcAnswer): unknown {
  if (!answer.ok) throw new Error(`refused: ${answer.error}`)
  return JSON.parse(answer.reply)
}

function filesOf(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}
