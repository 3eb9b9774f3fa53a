import { type ImportMode, type JsonObject, storageImportMax } from '@guildhall/contract'
import { chunksOf, type Line, partsOf } from '../../../model/import-file.ts'
import { jsonText } from '../../../model/json.ts'
import { newKey } from '../../data/changes.ts'
import { call } from '../../data/console-client.ts'
import { readJsonObject } from '../../kit/form/field-kinds.ts'

export type Complaint = { line: number; message: string }

/** How far a file has come; lines up to `line` are done with. */
export type Progress = {
  line: number
  created: number
  replaced: number
  unchanged: number
  kept: number
  /** Of a dry run: the first lines that would be refused, and how many there are. */
  complaints: readonly Complaint[]
  refused: number
}

export const nothingYet: Progress = {
  line: 0,
  created: 0,
  replaced: 0,
  unchanged: 0,
  kept: 0,
  complaints: [],
  refused: 0,
}

const complaintsMax = 20
/** Leaves room for what is around the lines. */
const partMax = { lines: storageImportMax.objects, bytes: storageImportMax.bytes - 1_024 }

export type ImportOptions = {
  file: Blob
  existing: ImportMode
  isDry: boolean
  /** Where an earlier run was stopped. */
  from: Progress
  signal: AbortSignal
  onPart(progress: Progress): void
}

/**
 * Sends a file part by part, each of which is stored whole or not at all. A refusal is thrown; what
 * was reported before it is stored.
 */
export async function runImport(options: ImportOptions): Promise<void> {
  const { file, existing, isDry, from, signal, onPart } = options
  let progress = from
  const places = new Map<string, number>()
  for await (const part of partsOf(chunksOf(file.stream()), partMax)) {
    if (signal.aborted) return
    // Also what was done with before: a place stands in a file once.
    const read = part.map((line) => objectOf(line, places)).filter(({ line }) => line > from.line)
    const last = read.at(-1)
    if (last === undefined) continue
    const broken = read.filter((each) => 'message' in each)
    const [first] = broken
    if (first !== undefined && !isDry) throw new Error(`Line ${first.line}: ${first.message}`)
    progress = withComplaints({ ...progress, line: last.line }, broken)
    const sent = read.filter((each) => 'object' in each)
    if (sent.length > 0) {
      const body = { objects: sent.map(({ object }) => object), existing, dry_run: isDry }
      const idempotencyKey = newKey()
      const { refused, ...counts } = await call((client) =>
        client.storage.import({ body, idempotencyKey }),
      ).catch((error: unknown) => {
        throw isDry ? error : withLine(error, sent)
      })
      const complaints = refused.map(({ index, message }) => {
        return { line: sent[index]?.line ?? 0, message }
      })
      progress = withComplaints(added(progress, counts), complaints)
    }
    onPart(progress)
  }
}

type Read = { line: number; object: JsonObject } | Complaint

/** `places` are those of the lines before, each with its line. */
function objectOf({ number: line, text }: Line, places: Map<string, number>): Read {
  const reading = readJsonObject(text)
  if (!('value' in reading)) return { line, message: 'is no JSON object' }
  const { collection, user_id, key } = reading.value
  const place = jsonText([collection, user_id ?? '', key])
  const first = places.get(place)
  if (first !== undefined) return { line, message: `is the object of line ${first} again` }
  places.set(place, line)
  return { line, object: reading.value }
}

type Counts = Pick<Progress, 'created' | 'replaced' | 'unchanged' | 'kept'>

function added(progress: Progress, counts: Counts): Progress {
  return {
    ...progress,
    created: progress.created + counts.created,
    replaced: progress.replaced + counts.replaced,
    unchanged: progress.unchanged + counts.unchanged,
    kept: progress.kept + counts.kept,
  }
}

function withComplaints(progress: Progress, more: readonly Complaint[]): Progress {
  const complaints = [...progress.complaints, ...more].slice(0, complaintsMax)
  return { ...progress, complaints, refused: progress.refused + more.length }
}

/** The server names an object by its place in the request; the line in the file says more. */
function withLine(error: unknown, sent: readonly { line: number }[]): unknown {
  if (!(error instanceof Error)) return error
  const [, index] = /objects\[(\d+)\]/.exec(error.message) ?? []
  const line = index === undefined ? undefined : sent[Number(index)]?.line
  if (line === undefined) return error
  return new Error(`Line ${line}: ${error.message.replace(/^.*objects\[\d+\]:? ?/, '')}`)
}
