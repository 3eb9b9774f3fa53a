import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { createSystemClock } from '../../kernel/clock.ts'
import { lowerThreadPriority } from '../../kernel/tasks/thread-priority.ts'
import type { StoredValue } from '../explorer/explorer.ts'
import type { ExplorerStatement } from '../explorer/page-query.ts'
import { answerQuestions } from './answer-questions.ts'
import { resultCode } from './errors.ts'

/** Statements that see one state of the file; `bytesMax` bounds the rows of the last one. */
export type ExplorerRequest = {
  number: number
  statements: readonly ExplorerStatement[]
  bytesMax: number
}

export type ExplorerAnswer = {
  /** The rows of each statement. */
  rows: StoredValue[][][]
  failure: { message: string; errcode: number | undefined } | 'over' | 'too large' | undefined
}

export type ExplorerWorkerData = {
  path: string
  /** Holds the number of the newest request whose time is over. */
  over: Int32Array
}

lowerThreadPriority()

const { path, over } = workerData as ExplorerWorkerData
const database = new DatabaseSync(path, { readOnly: true, timeout: 100 })
let current = 0

class Over extends Error {}
class TooLarge extends Error {}

/** Stands in WHERE, where it is called for every row that is looked at. */
database.function('guildhall_in_time', () => {
  if (Atomics.load(over, 0) >= current) throw new Over()
  if (clock.monotonicMs() - restedAtMs > sliceMs) rest()
  return 1
})

/**
 * A thread that never rests keeps a core from the event loop for some milliseconds each time that
 * both want it, whatever its priority is.
 */
const sliceMs = 0.3
const restMs = 0.05
const clock = createSystemClock()
const neverChanged = new Int32Array(new SharedArrayBuffer(4))
let restedAtMs = 0

function rest(): void {
  Atomics.wait(neverChanged, 0, 0, restMs)
  restedAtMs = clock.monotonicMs()
}

answerQuestions<ExplorerRequest, ExplorerAnswer>(answer, () => database.close())

function answer({ number, statements, bytesMax }: ExplorerRequest): ExplorerAnswer {
  current = number
  try {
    database.exec('BEGIN')
    return { rows: statements.map((each) => rowsOf(each, bytesMax)), failure: undefined }
  } catch (error) {
    return { rows: [], failure: failureOf(error, number) }
  } finally {
    if (database.isTransaction) database.exec('COMMIT')
  }
}

function rowsOf({ text, values }: ExplorerStatement, bytesMax: number): StoredValue[][] {
  const prepared = database.prepare(text)
  prepared.setReadBigInts(true)
  prepared.setReturnArrays(true)
  const rows: StoredValue[][] = []
  let bytes = 0
  for (const row of prepared.iterate(...values.map(bound))) {
    const stored = row as unknown as StoredValue[]
    bytes += stored.reduce<number>((sum, value) => sum + weightOf(value), 0)
    if (bytes > bytesMax) throw new TooLarge()
    rows.push(stored)
  }
  return rows
}

function bound(value: ExplorerStatement['values'][number]): SQLInputValue {
  return typeof value === 'boolean' ? BigInt(value) : value
}

function weightOf(value: StoredValue): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 1
}

function failureOf(error: unknown, number: number): NonNullable<ExplorerAnswer['failure']> {
  if (error instanceof Over || Atomics.load(over, 0) >= number) return 'over'
  if (error instanceof TooLarge) return 'too large'
  const message = error instanceof Error ? error.message : String(error)
  return { message, errcode: resultCode(error) }
}
