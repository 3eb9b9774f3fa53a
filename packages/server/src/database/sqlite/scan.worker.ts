import { parentPort, workerData } from 'node:worker_threads'
import type { Columns, Row, Statement } from '../statement.ts'
import { SqliteConnection } from './connection.ts'
import { resultCode } from './errors.ts'

/** One statement to run; `nowUnixMs` is what `{{now}}` stands for in it. */
export type ScanRequest = {
  number: number
  statement: Statement
  params: object
  nowUnixMs: number
}

export type ScanAnswer = {
  number: number
  rows: Row<Columns>[]
  failure: { message: string; errcode: number | undefined } | undefined
}

let nowUnixMs = 0
const connection = new SqliteConnection(String(workerData), {
  readOnly: true,
  nowUnixMs: () => nowUnixMs,
})
/** A statement that crosses threads is a copy each time; the first one is the prepared one. */
const statements = new Map<string, Statement>()

parentPort?.on('message', (message: ScanRequest | 'close') => {
  if (message === 'close') {
    connection.close()
    parentPort?.close()
    return
  }
  parentPort?.postMessage(scan(message))
})

function scan({ number, statement, params, nowUnixMs: now }: ScanRequest): ScanAnswer {
  try {
    nowUnixMs = now
    const known = statements.get(statement.name) ?? statement
    statements.set(statement.name, known)
    return { number, rows: connection.all(known, params), failure: undefined }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { number, rows: [], failure: { message, errcode: resultCode(error) } }
  }
}
