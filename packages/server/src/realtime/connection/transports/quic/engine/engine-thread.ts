import { Worker } from 'node:worker_threads'
import type { Clock } from '../../../../../kernel/clock.ts'
import { BatchWriter, isBatch, payloadBytes, type Row, readBatch } from './batch.ts'
import { mendEngine, readEngineFile } from './core-file.ts'
import {
  commands,
  type Engine,
  type EngineCounters,
  type EngineEvents,
  type EngineOptions,
  engineCounterNames,
  reports,
} from './engine.ts'
import type { EngineThreadStart } from './engine.worker.ts'
import type { EngineNews, EngineOrder } from './engine-host.ts'

/** Thrown when the engine's socket cannot be had, with the code of the system. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
  readonly syscall = 'bind'
  readonly code: string

  constructor(code: string, text: string) {
    super(text)
    this.code = code
  }
}

export type EngineThreadOptions = EngineOptions & {
  clock: Clock
  /** 64 hex digits that nobody else knows. */
  retryKey: string
  /** For tests of a trap: the engine as it was published. */
  unmended?: boolean
}

/** Fewer bytes that were read leave with the next command: the thread bears with 16 MiB. */
const readBytesWorthMessage = 1024 * 1024

/** How long a thread may take to end by itself. */
const stopMs = 1000

/**
 * Starts an engine on a thread of its own and resolves once it listens.
 *
 * @throws AddressRefused when the address cannot be had
 * @throws EngineUnfit when the engine is another release
 */
export async function startEngineThread(
  options: EngineThreadOptions,
  events: EngineEvents,
): Promise<Engine> {
  const published = await readEngineFile()
  const counters = new SharedArrayBuffer(engineCounterNames.length * 8)
  const { clock, unmended = false, ...others } = options
  const engine = unmended ? published : mendEngine(published)
  const start: EngineThreadStart = { ...others, engine, counters }
  const worker = new Worker(new URL('./engine.worker.ts', import.meta.url), {
    name: 'quic',
    env: {},
    execArgv: [],
    workerData: start,
  })
  const address = await listening(worker)
  worker.unref()
  return createEngine({ line: lineOf(worker), counters, address, events, clock })
}

function lineOf(worker: Worker): EngineLine {
  let failure: Error | undefined
  worker.on('error', (error: Error) => {
    failure = error
  })
  return {
    postMessage: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (take) => void worker.on('message', take),
    ended: new Promise((resolve) => worker.once('exit', () => resolve(failure))),
    terminate: () => void worker.terminate(),
  }
}

function listening(worker: Worker): Promise<Engine['address']> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      worker.off('error', reject)
      worker.off('exit', ended)
    }
    const ended = () => reject(new Error('the thread of QUIC ended before it listened'))
    worker.once('error', reject)
    worker.once('exit', ended)
    worker.once('message', (news: EngineNews) => {
      leave()
      if ('listening' in news) return resolve(news.listening)
      void worker.terminate()
      reject(new AddressRefused(news.refused.code, news.refused.text))
    })
  })
}

/** The node's end of the line to the thread. */
export type EngineLine = {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void
  onMessage(take: (message: unknown) => void): void
  /** Resolves when the thread is over, with what ended it. */
  readonly ended: Promise<Error | undefined>
  terminate(): void
}

type Parts = {
  line: EngineLine
  counters: SharedArrayBuffer
  address: Engine['address']
  events: EngineEvents
  clock: Clock
}

export function createEngine({ line, counters, address, events, clock }: Parts): Engine {
  const counts = new Float64Array(counters)
  const written = new BatchWriter()
  let isFlushDue = false
  let isOver = false
  /** Bytes of reports that were read, and of which the thread has not heard. */
  let readBytes = 0

  function add(kind: number, connection: number, row?: Partial<Row>): void {
    if (isOver) return
    written.add(kind, connection, row)
    flushSoon()
  }

  function flushSoon(): void {
    if (isFlushDue) return
    isFlushDue = true
    queueMicrotask(flush)
  }

  function flush(): void {
    isFlushDue = false
    if (readBytes > 0) written.add(commands.read, 0, { value: readBytes })
    readBytes = 0
    const batch = written.take()
    line.postMessage(batch, [batch.buffer])
  }

  const order = (what: EngineOrder) => line.postMessage(what)
  line.onMessage((message) => {
    if (isOver || !isBatch(message)) return
    readBatch(message, (row) => report(events, row, add))
    readBytes += payloadBytes(message)
    if (readBytes >= readBytesWorthMessage) flushSoon()
  })
  void line.ended.then((failure) => {
    if (isOver) return
    isOver = true
    events.failed(failure ?? new Error('the thread of QUIC ended'))
  })
  return {
    address,
    send: (connection, stream, bytes, fin) =>
      add(fin ? commands.sendLast : commands.send, connection, { stream, bytes }),
    datagram: (connection, bytes) => add(commands.datagram, connection, { bytes }),
    pause: (connection) => add(commands.pause, connection),
    resume: (connection) => add(commands.resume, connection),
    farewell: (connection, stream, bytes) => add(commands.farewell, connection, { stream, bytes }),
    close: (connection, code, reason, drains) =>
      add(commands.close, connection, {
        ...{ value: code, stream: Number(drains) },
        bytes: new TextEncoder().encode(reason),
      }),
    destroy: (connection) => add(commands.destroy, connection),
    setCertificate: (certificate) => order({ certificate }),
    counters: () =>
      Object.fromEntries(
        engineCounterNames.map((name, at) => [name, counts[at] ?? 0]),
      ) as EngineCounters,
    async stop() {
      if (isFlushDue) flush()
      isOver = true
      order({ stop: true })
      const timer = clock.after(stopMs, () => line.terminate())
      await line.ended
      timer.cancel()
    },
  }
}

type Add = (kind: number, connection: number, row?: Partial<Row>) => void

function report(events: EngineEvents, row: Row, add: Add): void {
  const { kind, connection, stream, value, bytes } = row
  if (kind === reports.data) events.data(connection, stream, bytes)
  else if (kind === reports.datagram) events.datagram(connection, bytes)
  else if (kind === reports.taken) events.taken(connection, value, stream)
  else if (kind === reports.ended) events.ended(connection, stream)
  else if (kind === reports.reset) events.reset(connection, stream)
  else if (kind === reports.stopped) events.stopped(connection, stream)
  else if (kind === reports.closed) events.closed(connection, value < 0 ? undefined : value)
  else if (kind === reports.opened) {
    const isAccepted = events.opened(connection, new TextDecoder().decode(bytes))
    add(isAccepted ? commands.admit : commands.refuse, connection)
  }
}
