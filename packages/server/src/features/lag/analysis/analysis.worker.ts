import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { lowerThreadPriority } from '../../../kernel/tasks/thread-priority.ts'
import { isWhole, release } from '../uploads/release.ts'
import type { AnalysisJob, AnalysisReply } from './analysis-thread.ts'
import { analyze } from './analyze.ts'

/** One run of the analysis: reads one recording, and answers. */
async function run(job: AnalysisJob): Promise<AnalysisReply> {
  let packed: Buffer
  try {
    packed = await read(job.path)
  } catch (error) {
    return { ok: false, isTransient: true, reason: String(error) }
  }
  let bytes: Buffer | undefined
  try {
    bytes = unpack(packed, job.bytesMax)
    return { ok: true, analysis: analyze({ ...job, bytes }) }
  } catch (error) {
    return { ok: false, isTransient: false, reason: String(error) }
  } finally {
    if (bytes !== undefined) release(bytes)
    if (isWhole(packed)) release(packed)
  }
}

/** In one piece: the end of a gzip member says how long it is. */
function unpack(packed: Buffer, bytesMax: number): Buffer {
  const size = packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4)
  const chunkSize = Math.max(65_536, Math.min(size, bytesMax) + 1)
  return gunzipSync(packed, { maxOutputLength: bytesMax, chunkSize })
}

/** A name that has become a link is not followed. */
async function read(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}

lowerThreadPriority()
parentPort?.on('message', async (job: AnalysisJob) => parentPort?.postMessage(await run(job)))
