import { describeError } from '../../errors.ts'
import { ScriptRuntime } from '../../script-runtime.ts'

/**
 * The worker process of the trusted tier: runs a TypeScript or JavaScript script for the node. The
 * script shares this process with the host code, so what the host code needs later it holds from
 * the start, and what it cannot bear it reports by ending the process.
 */
function serveNode(): void {
  const send = process.send?.bind(process)
  if (!send) throw new Error('a script worker is started by its node')
  const exit = process.exit.bind(process)
  const runtime = new ScriptRuntime({ post: (message) => void send(message), exit })
  // A signal to the whole group is the node's business: it stops its worker when it is done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('disconnect', () => exit(0))
  process.on('uncaughtException', (error) => runtime.reportStray(error))
  process.on('unhandledRejection', (error) => runtime.reportStray(error))
  process.on('message', (message) => runtime.receive(message))
  send({ type: 'online' })
}

try {
  serveNode()
} catch (error) {
  process.stderr.write(`${describeError(error, '').message}\n`)
  process.exitCode = 1
}
