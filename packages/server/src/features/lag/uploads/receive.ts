import type { IncomingMessage } from 'node:http'
import {
  decodeLagHeader,
  type LagHeader,
  lagHeaderBytes,
  lagRecordBytes,
} from '@guildhall/contract'
import type { Clock } from '../../../kernel/clock.ts'
import { GzipFault, GzipMember } from './gzip-member.ts'
import type { Staged } from './raw-store.ts'
import { isWhole, release } from './release.ts'
import { UploadFault } from './upload-results.ts'

const totalMs = 30_000
const silenceMs = 10_000
/** Of what is unpacked, for each upload: the largest one takes 16 s of its 30. */
const bytesPerSecond = 4_194_304
/** So much may come at once, which is more than most recordings have. */
const unpacedBytes = 262_144

export type Bounds = {
  compressedMax: number
  inflatedMax: number
  /** Refuses an upload that has come to so many bytes. */
  expectRoom(compressedBytes: number): void
}

export type Received = { header: LagHeader; compressedBytes: number }

/**
 * Writes the body of an upload to its file as it arrives, and looks at what it unpacks to. Of both
 * no more than a few pieces are in memory, and it goes no faster than `bytesPerSecond`: no upload
 * is urgent, and what else the node does is.
 *
 * @throws UploadFault for what is wrong with the upload, and what the file throws
 */
export async function receive(
  message: IncomingMessage,
  staged: Staged,
  { clock, bounds }: { clock: Clock; bounds: Bounds },
): Promise<Received> {
  const startMs = clock.monotonicMs()
  const head = Buffer.alloc(lagHeaderBytes)
  let inflated = 0
  let compressedBytes = 0
  const member = new GzipMember((chunk) => {
    if (inflated < lagHeaderBytes) chunk.copy(head, inflated)
    inflated += chunk.length
    if (inflated > bounds.inflatedMax) throw new UploadFault('size')
  })
  try {
    for await (const chunk of timed(message, clock)) {
      compressedBytes += chunk.length
      if (compressedBytes > bounds.compressedMax) throw new UploadFault('size')
      bounds.expectRoom(compressedBytes)
      await staged.write(chunk)
      await member.write(chunk)
      if (isWhole(chunk)) release(chunk)
      const dueMs = startMs + ((inflated - unpacedBytes) * 1000) / bytesPerSecond
      if (dueMs > clock.monotonicMs()) await clock.sleep(dueMs - clock.monotonicMs())
    }
    await member.end()
  } catch (error) {
    throw error instanceof GzipFault ? new UploadFault('gzip') : error
  } finally {
    member.destroy()
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
async function* timed(message: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  const pieces = message.iterator({ destroyOnReturn: false })
  let isLate = false
  let interrupt: (fault: UploadFault) => void = () => {}
  const fail = () => {
    isLate = true
    interrupt(new UploadFault('time'))
  }
  const total = clock.after(totalMs, fail)
  let silence = clock.after(silenceMs, fail)
  try {
    for (;;) {
      if (isLate) throw new UploadFault('time')
      // One promise for each piece: what races with one that stays would be held until its end.
      const next = await new Promise<Buffer | undefined>((resolve, reject) => {
        interrupt = reject
        nextOf(pieces).then(resolve, reject)
      })
      silence.cancel()
      if (next === undefined) return
      yield next
      silence = clock.after(silenceMs, fail)
    }
  } finally {
    total.cancel()
    silence.cancel()
  }
}

/** A body that breaks off is one that is not whole. */
async function nextOf(pieces: AsyncIterator<Buffer>): Promise<Buffer | undefined> {
  try {
    const { value, done } = await pieces.next()
    return done === true ? undefined : value
  } catch {
    throw new UploadFault('gzip')
  }
}
