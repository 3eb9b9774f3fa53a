import type { IncomingMessage } from 'node:http'
import {
  decodeLagHeader,
  type LagHeader,
  lagHeaderBytes,
  lagRecordBytes,
} from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import { isOverdue } from '../../../kernel/http/connection/socket-guard.ts'
import { GzipFault, GzipMember } from './gzip-member.ts'
import type { Pace } from './pace.ts'
import type { Staged } from './raw-store.ts'
import { isWhole, release } from './release.ts'
import { UploadFault } from './upload-results.ts'

const silenceMs = 10_000

export type Bounds = {
  /** In milliseconds, of the whole upload. */
  totalMs: number
  compressedMax: number
  inflatedMax: number
  /** Refuses an upload that has come to so many bytes. */
  expectRoom(compressedBytes: number): void
}

export type Received = { header: LagHeader; compressedBytes: number }

/**
 * Writes the body of an upload to its file as it arrives, and looks at what it unpacks to. Of both
 * no more than a few pieces are in memory. It goes no faster than the pace lets it; a client that
 * leaves and the end of its time end that wait, too.
 *
 * @throws UploadFault for what is wrong with the upload, and what the file throws
 */
export async function receive(
  message: IncomingMessage,
  staged: Pick<Staged, 'write'>,
  { clock, pace, bounds }: { clock: Clock; pace: Pace; bounds: Bounds },
): Promise<Received> {
  const stop = new AbortController()
  const total = clock.after(bounds.totalMs, () => stop.abort(new UploadFault('time')))
  const closed = () => {
    if (!message.complete) stop.abort(brokenOff(message))
  }
  message.once('close', closed)
  const head = Buffer.alloc(lagHeaderBytes)
  let inflated = 0
  let compressedBytes = 0
  const member = new GzipMember((chunk) => {
    if (inflated < lagHeaderBytes) chunk.copy(head, inflated)
    inflated += chunk.length
    if (inflated > bounds.inflatedMax) throw new UploadFault('size')
    // Asked again for each piece: somebody may have withdrawn while the one before had to wait.
    bounds.expectRoom(compressedBytes)
    return pace.spend(chunk.length, stop.signal)
  })
  try {
    for await (const chunk of timed(message, clock, stop)) {
      compressedBytes += chunk.length
      if (compressedBytes > bounds.compressedMax) throw new UploadFault('size')
      bounds.expectRoom(compressedBytes)
      await staged.write(chunk)
      await member.write(chunk)
      if (isWhole(chunk)) release(chunk)
    }
    await member.end()
  } catch (error) {
    throw error instanceof GzipFault ? new UploadFault('gzip') : error
  } finally {
    total.cancel()
    message.off('close', closed)
    member.destroy()
    stop.abort()
  }
  return { header: headerOf(head, inflated), compressedBytes }
}

function headerOf(head: Buffer, inflated: number): LagHeader {
  const header = readHeader(head)
  const size = lagHeaderBytes + lagRecordBytes * header.record_count
  if (inflated !== size) throw new UploadFault('format')
  return header
}

function readHeader(head: Buffer): LagHeader {
  try {
    return decodeLagHeader(head)
  } catch {
    throw new UploadFault('format')
  }
}

/** The pieces of a body, as long as it keeps coming. */
async function* timed(
  message: IncomingMessage,
  clock: Clock,
  stop: AbortController,
): AsyncGenerator<Buffer> {
  const pieces = message.iterator({ destroyOnReturn: false })
  for (;;) {
    stop.signal.throwIfAborted()
    const silence = clock.after(silenceMs, () => stop.abort(new UploadFault('time')))
    const next = await unlessStopped(nextOf(message, pieces), stop.signal).finally(() =>
      silence.cancel(),
    )
    if (next === undefined) return
    yield next
  }
}

/** A promise for each piece: one that stays would hold all that it raced with until its end. */
function unlessStopped<T>(piece: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stopped = () => reject(signal.reason)
    signal.addEventListener('abort', stopped, { once: true })
    const settled = () => signal.removeEventListener('abort', stopped)
    piece.then(resolve, reject).finally(settled)
  })
}

async function nextOf(
  message: IncomingMessage,
  pieces: AsyncIterator<Buffer>,
): Promise<Buffer | undefined> {
  try {
    const { value, done } = await pieces.next()
    return done === true ? undefined : value
  } catch {
    throw brokenOff(message)
  }
}

/** A body that breaks off is one that is not whole, unless the server has cut it off. */
function brokenOff({ socket }: IncomingMessage): UploadFault {
  return new UploadFault(isOverdue(socket) ? 'time' : 'gzip')
}
