import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { atEndOfTurn, createSystemClock } from '../../kernel/clock.ts'
import { type BindingHost, callerOf } from '../bindings/binding-host.ts'
import { createGuildhall } from '../bindings/guildhall.ts'
import { createCallReader } from '../call-records.ts'
import type { CallBatch, FromWorker, ToWorker, WorkerSettings } from '../protocol.ts'
import { revisionId } from '../revision.ts'
import { describeError } from './errors.ts'
import { createGuard } from './guard.ts'
import { createHostCalls } from './host-calls.ts'
import { createLoader, type Loader, ModuleProblem } from './loader.ts'
import { createPrinter } from './printer.ts'
import { createRegistry } from './registry.ts'
import { Runner } from './runner.ts'
import { createTimers } from './timers.ts'

/**
 * The worker of the trusted tier: runs a TypeScript or JavaScript script beside the event loop of
 * the node. The script shares this thread's globals with the host code, so what the host code needs
 * later it holds from the start, and what it cannot bear it reports by ending the thread.
 */
function runWorker(port: NonNullable<typeof parentPort>, settings: WorkerSettings): void {
  const post = (message: FromWorker, moved: ArrayBuffer[] = []) => port.postMessage(message, moved)
  const exit = process.exit.bind(process)
  const clock = createSystemClock()
  const scriptsUrl = pathToFileURL(settings.scriptsDir + sep).href
  const print = createPrinter(clock, post)
  const registry = createRegistry()
  const timers = createTimers()
  const hostCalls = createHostCalls(() => wantTurnEnd())
  const runner = new Runner({
    ...settings,
    clock,
    control: new Int32Array(settings.control),
    guard: createGuard(clock),
    registry,
    timers,
    scriptsUrl,
    wantTurnEnd: () => wantTurnEnd(),
    flush: () => flush(),
  })
  const host: BindingHost = {
    clock,
    registry,
    timers,
    runner,
    print,
    ask: async (name, args) => hostCalls.ask(callerOf(host), name, args),
  }
  let loader: Loader | undefined
  let answered = 0
  let turnEndWanted = false

  function wantTurnEnd(): void {
    if (turnEndWanted) return
    turnEndWanted = true
    atEndOfTurn(() => guarded(endTurn))
  }

  function endTurn(): void {
    turnEndWanted = false
    runner.endTurn()
    flush()
  }

  function flush(): void {
    const calls = hostCalls.take()
    if (runner.output.isEmpty && calls.length === 0 && answered === 0) return
    const taken = runner.output.take()
    post({ type: 'batch', answered, calls, ...taken }, [taken.buffer])
    answered = 0
  }

  function runBatch(batch: CallBatch): void {
    const read = createCallReader(batch)
    for (let n = 0; n < batch.results.length; n += 1) {
      const result = batch.results[n]
      if (result) hostCalls.resolve(result)
    }
    for (let n = 0; n < batch.calls; n += 1) runner.enqueue(read(n))
    runner.sweep()
    runner.run()
    answered += 1
    wantTurnEnd()
  }

  async function load({ entry, generation, files }: ToWorker & { type: 'load' }): Promise<void> {
    const own = createLoader(settings.scriptsDir, files)
    loader = own
    const identity = {
      node_id: settings.nodeId,
      tier: 'trusted' as const,
      generation,
      revision_id: () => revisionId(loader?.files() ?? []),
    }
    Object.defineProperty(globalThis, 'guildhall', { value: createGuildhall(host, identity) })
    try {
      await own.load(entry)
    } catch (error) {
      post({ type: 'load_failed', file: entry, ...loadProblem(error, scriptsUrl) })
      return
    }
    registry.close()
    const handlers = registry.summary()
    if (handlers) post({ type: 'loaded', handlers, files: own.files() })
    else post({ type: 'load_failed', message: 'the script registers no handler', file: entry })
  }

  function receive(message: ToWorker): void {
    switch (message.type) {
      case 'load':
        void load(message)
        return
      case 'batch':
        runBatch(message)
        return
      case 'ping':
        runner.sweep()
        endTurn()
        post({ type: 'pong', n: message.n })
        return
      case 'stop':
        exit(0)
    }
  }

  /** An error of the host code itself: the thread ends, and the main thread starts another. */
  function guarded(work: () => void): void {
    try {
      work()
    } catch (error) {
      print('error', `the script host failed: ${describeError(error, scriptsUrl).message}`)
      exit(1)
    }
  }

  function reportStray(error: unknown): void {
    const { message, file, line } = describeError(error, scriptsUrl)
    const place = file === undefined ? '' : ` at ${file}:${line}`
    print('error', `nobody caught an error of the script${place}: ${message}`)
  }

  process.on('uncaughtException', reportStray)
  process.on('unhandledRejection', reportStray)
  port.on('message', (message: ToWorker) => guarded(() => receive(message)))
  post({ type: 'online' })
}

function loadProblem(error: unknown, scriptsUrl: string) {
  if (error instanceof ModuleProblem) return { message: error.message, file: error.file }
  return describeError(error, scriptsUrl)
}

if (parentPort) runWorker(parentPort, workerData)
