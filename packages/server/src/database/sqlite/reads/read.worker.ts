import { workerData } from 'node:worker_threads'
import type { Statement } from '../../statement.ts'
import { answerQuestions } from '../answer-questions.ts'
import { SqliteConnection } from '../connection.ts'
import { resultCode } from '../errors.ts'
import { type Asked, type Part, SteppedRead } from './stepped-read.ts'

/** A step of a long read; `nowUnixMs` is what `{{now}}` stands for in it. */
export type ReadQuestion = { read: number } & (
  | { step: 'first'; asked: Asked; nowUnixMs: number }
  | { step: 'next' }
  | { step: 'end' }
)

export type ReadAnswer = Part & {
  failure: { message: string; errcode: number | undefined } | undefined
}

type Read = { connection: SqliteConnection; steps: SteppedRead }

let nowUnixMs = 0
/** Those under way. A read begins with its first statement, and has a connection to itself. */
const reads = new Map<number, Read>()
const connections: SqliteConnection[] = []
const idle: SqliteConnection[] = []
/** A statement that crosses threads is a copy each time; the first one is the prepared one. */
const statements = new Map<string, Statement>()

answerQuestions<ReadQuestion, ReadAnswer>(answer, () => {
  for (const connection of connections) connection.close()
})

function answer(question: ReadQuestion): ReadAnswer {
  try {
    return { ...partOf(question), failure: undefined }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { rows: [], isLast: true, failure: { message, errcode: resultCode(error) } }
  }
}

function partOf(question: ReadQuestion): Part {
  const known = reads.get(question.read)
  if (question.step === 'next') {
    if (known === undefined) throw new Error('the thread of this read was started anew')
    return known.steps.next()
  }
  if (question.step === 'end') {
    reads.delete(question.read)
    known?.steps.end()
    if (known) idle.push(known.connection)
    return { rows: [], isLast: true }
  }
  nowUnixMs = question.nowUnixMs
  const { statement, ...asked } = question.asked
  const prepared = statements.get(statement.name) ?? statement
  statements.set(statement.name, prepared)
  const { steps } = known ?? begin(question.read)
  return steps.first({ ...asked, statement: prepared } as Asked)
}

function begin(number: number): Read {
  const connection = idle.pop() ?? open()
  const read = { connection, steps: new SteppedRead(connection) }
  reads.set(number, read)
  return read
}

function open(): SqliteConnection {
  const options = { readOnly: true, nowUnixMs: () => nowUnixMs }
  const connection = new SqliteConnection(String(workerData), options)
  connections.push(connection)
  return connection
}
