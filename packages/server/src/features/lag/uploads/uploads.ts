import type { IncomingMessage } from 'node:http'
import { type LagHeader, lagContentType, lagHeaderBytes } from '@guildhall/contract'
import { bearerOf } from '../../../kernel/auth/bearer.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { ErrorJournal } from '../../../kernel/errors/error-journal.ts'
import { refuse } from '../../../kernel/failure.ts'
import type { Exchange } from '../../../kernel/http/exchange.ts'
import type { Ids } from '../../../kernel/ids.ts'
import type { Log } from '../../../kernel/log/log.ts'
import { generation, type Quota } from '../captures/capture.ts'
import type { Captures, Redeemed } from '../captures/captures.ts'
import type { ServerSide } from '../captures/server-side.ts'
import { createPace } from './pace.ts'
import type { RawStore } from './raw-store.ts'
import { type Received, receive } from './receive.ts'
import { createUploadLimits } from './upload-limits.ts'
import { UploadFault, type UploadResult, uploadResults } from './upload-results.ts'

export type UploadsDeps = {
  clock: Clock
  ids: Pick<Ids, 'uuid7'>
  log: Log
  journal: Pick<ErrorJournal, 'record'>
  sourceOf(message: IncomingMessage): string
  config: {
    allowed_origins: readonly string[]
    max_compressed_bytes: number
    max_concurrent_uploads: number
    request_timeout_ms: number
  }
  /** Undefined while captures are off. */
  receiving: { raw: RawStore; captures: Pick<Captures, 'redeem'> } | undefined
  /**
   * Stores the rows of a recording whose file is in its place, unless `expectConsent` throws, which
   * is the last step.
   */
  publish(recording: Recording, expectConsent: () => void): Promise<void>
}

/** A recording that was received and checked. */
export type Recording = Redeemed & {
  handle: string
  header: LagHeader
  compressed_bytes: number
  server: ServerSide | null
}

/** How long an upload may take. */
const uploadMs = 30_000
/** Its answer leaves before the time of its request is over, which began with its head. */
const answerMs = 500

type Receiving = NonNullable<UploadsDeps['receiving']>

/**
 * Takes recordings. Whatever is wrong with one, the answer is the same 404; the reason is counted
 * and logged.
 */
export function createUploads(deps: UploadsDeps) {
  const { clock, log, config } = deps
  const limits = createUploadLimits({ clock, atOnce: config.max_concurrent_uploads })
  const pace = createPace(clock)
  // Behind the time of a request its connection is cut, without an answer.
  const totalMs = Math.min(uploadMs, config.request_timeout_ms - answerMs)
  const counts = new Map<UploadResult, number>(uploadResults.map((result) => [result, 0]))
  const origins = new Set(config.allowed_origins)

  function note(result: UploadResult, source: string, error?: unknown): void {
    counts.set(result, (counts.get(result) ?? 0) + 1)
    log.debug('a lag recording was uploaded', { result, source })
    if (result === 'error') {
      deps.journal.record({ category: 'request', component: 'lag-upload', error })
    }
  }

  async function take(exchange: Exchange, source: string): Promise<void> {
    const { receiving } = deps
    if (receiving === undefined) throw new UploadFault('disabled')
    if (limits.isThrottled(source)) throw new UploadFault('throttled')
    const done = await limits.run(async () => {
      await store(exchange, receiving)
      return true
    })
    if (done === undefined) throw new UploadFault('busy')
  }

  async function store({ message, head }: Exchange, receiving: Receiving): Promise<void> {
    const { raw, captures } = receiving
    const token = tokenOf(head.authorization)
    const redeemed = token === undefined ? undefined : captures.redeem(token)
    if (redeemed === undefined) throw new UploadFault('token')
    let published = false
    try {
      expectType(message)
      await receiveInto(message, raw, redeemed)
      published = true
    } finally {
      const { capture, recorder, grant } = redeemed
      capture.uploadEnded(recorder, grant, published)
    }
  }

  async function receiveInto(message: IncomingMessage, raw: RawStore, redeemed: Redeemed) {
    const { capture, recorder } = redeemed
    const handle = `lc1-${deps.ids.uuid7()}`
    const inflatedMax = capture.spec.max_bytes + lagHeaderBytes
    const bounds = {
      totalMs,
      compressedMax: config.max_compressed_bytes,
      inflatedMax,
      expectRoom: (bytes: number) => expectRoom(redeemed, raw.quota, bytes),
    }
    const staged = await raw.stage(handle)
    try {
      const { header, compressedBytes } = await receive(message, staged, { clock, pace, bounds })
      expectOwn(header, redeemed)
      await staged.publish()
      const server = recorder.server?.counted() ?? null
      const recording = { ...redeemed, handle, header, server, compressed_bytes: compressedBytes }
      await deps.publish(recording, () => expectConsent(redeemed))
      raw.quota.use(compressedBytes)
    } catch (error) {
      await staged.discard()
      throw error
    }
  }

  return {
    counts: (): ReadonlyMap<UploadResult, number> => counts,

    async serve(exchange: Exchange): Promise<void> {
      const { message } = exchange
      const { origin } = message.headers
      const isOn = deps.receiving !== undefined
      const isAllowed = isOn && origin !== undefined && origins.has(origin)
      if (isAllowed) exchange.headers({ 'access-control-allow-origin': origin, vary: 'Origin' })
      if (message.method === 'OPTIONS') {
        if (!isAllowed) throw refuse.notFound('not an allowed origin')
        exchange.headers(preflight)
        return exchange.reply(204, null)
      }
      const source = deps.sourceOf(message)
      try {
        await take(exchange, source)
      } catch (error) {
        const result = error instanceof UploadFault ? error.result : 'error'
        note(result, source, error)
        if (result !== 'throttled') limits.failed(source)
        // What is left of the body is not waited for.
        if (!message.complete) exchange.header('connection', 'close')
        throw refuse.notFound('a lag upload was refused')
      }
      note('ok', source)
      exchange.reply(204, null)
    },
  }
}

const preflight = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'authorization, content-type, content-encoding',
}

/** Undefined for a header that is no bearer, like for none. */
function tokenOf(lines: readonly string[]): string | undefined {
  try {
    return bearerOf(lines)
  } catch {
    return undefined
  }
}

/** Consent that ends while a recording arrives takes the recording back. */
function expectConsent({ grant }: Redeemed): void {
  if (grant.use !== 'uploading') throw new UploadFault('token')
}

/** What is packed badly is larger than what was reserved: it takes more while there is some. */
function expectRoom(redeemed: Redeemed, quota: Quota, bytes: number): void {
  expectConsent(redeemed)
  const { grant } = redeemed
  const more = bytes - grant.reservedBytes
  if (more <= 0) return
  if (more > quota.free()) throw new UploadFault('quota')
  quota.reserve(more)
  grant.reservedBytes += more
}

function expectType({ headers }: IncomingMessage): void {
  const isGzip = headers['content-encoding']?.toLowerCase() === 'gzip'
  if (!isGzip || headers['content-type']?.toLowerCase() !== lagContentType) {
    throw new UploadFault('type')
  }
}

function expectOwn(header: Received['header'], { capture }: Redeemed): void {
  const isOwn = header.capture_id === capture.capture_id && header.generation === generation
  if (!isOwn) throw new UploadFault('format')
}
