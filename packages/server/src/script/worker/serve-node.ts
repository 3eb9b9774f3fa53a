import { Socket } from 'node:net'
import { keepCompiled } from '../../kernel/host/compiled-scripts.ts'
import { messageBytes } from '../wire/limits.ts'
import { encodeMessage, MessageReader } from '../wire/messages.ts'
import { channelFd, type FromWorker } from '../wire/protocol.ts'
import type { CreateEngine } from './engines/engine.ts'
import { ScriptRuntime } from './script-runtime.ts'

/**
 * The worker process of one script: what an entry file does with its engine. The script may share
 * this process with the host code, so what the host code needs later it holds from the start, and
 * what it cannot bear it reports by ending the process.
 */
export function serveNode(createEngine: CreateEngine): void {
  try {
    serve(createEngine)
  } catch (error) {
    process.stderr.write(`${String(error)}\n`)
    process.exitCode = 1
  }
}

function serve(createEngine: CreateEngine): void {
  const reader = new MessageReader(messageBytes.toWorker)
  const buffer = Buffer.allocUnsafeSlow(readBytes)
  // Read without a stream, so that an interrupt ends nothing but what is ready for it.
  const channel = new Socket({
    fd: channelFd,
    readable: true,
    writable: true,
    onread: { buffer, callback: take },
  })
  const exit = process.exit.bind(process)
  const post = (message: FromWorker) => {
    channel.write(encodeMessage(message))
    if (message.type === 'loaded') keepCompiled()
  }
  const runtime = new ScriptRuntime({ post, exit, createEngine })
  // A signal to the whole group is the node's business: it stops its worker when it is done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  channel.on('error', () => exit(0)).on('close', () => exit(0))
  process.on('uncaughtException', (error) => runtime.reportStray(error))
  process.on('unhandledRejection', (error) => runtime.reportStray(error))
  const receive = (message: unknown) => runtime.receive(message)

  function take(bytes: number): boolean {
    if (reader.read(buffer.subarray(0, bytes), receive) !== undefined) exit(1)
    runtime.work()
    return true
  }
}

const readBytes = 65_536
