import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { afterOthers, type Clock } from '../clock.ts'
import { refuse } from '../failure.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../log/log.ts'
import type { HashingAnswer, HashingOptions, HashingQuestion } from './hashing-worker.ts'
import { isWeaker, parsePhc } from './phc.ts'

/**
 * Makes and checks password verifiers (Argon2id version 1.3, as PHC strings) on threads of their
 * own: neither the event loop nor the thread pool that syncs files ever waits behind a hash.
 */
export type Hashing = {
  /** Resolves to a new verifier. Throws `rate_limited` when the queue is full. */
  hash(password: string): Promise<string>
  /** Whether the verifier is the password's. One that cannot be read belongs to no password. */
  verify(verifier: string, password: string): Promise<boolean>
  /** As costly as `verify`, and never true: for accounts that do not exist. */
  verifyDummy(password: string): Promise<false>
  /** Whether the verifier is weaker than one that `hash` would make now. */
  needsRehash(verifier: string): boolean
  /** How many passwords wait for a thread. */
  depth(): number
  /** Ends the threads. What is running or waiting is rejected, as is every later call. */
  stop(): Promise<void>
}

export type HashingConfig = {
  memory_kib: number
  iterations: number
  parallelism: number
  /** Threads; 0 stands for half the cores, and at least one. */
  concurrency: number
  /** How many passwords may wait; one more is refused. */
  queue: number
}

type HashingDeps = {
  config: HashingConfig
  ids: Pick<Ids, 'bytes'>
  clock: Pick<Clock, 'monotonicMs'>
  log: Log
  /** Receives how long each hash or check took on its thread. */
  observe?: ((durationMs: number) => void) | undefined
  startWorker?: () => Worker
}

type Job = {
  question: HashingQuestion
  resolve: (value: string | boolean) => void
  reject: (error: unknown) => void
}

type Thread = { worker: Worker; job: Job | undefined; startedMs: number; crash: Error | undefined }

const saltBytes = 16
const outputBytes = 32

export function createHashing(deps: HashingDeps): Hashing {
  const { config, log } = deps
  const options: HashingOptions = {
    memoryCost: config.memory_kib,
    timeCost: config.iterations,
    parallelism: config.parallelism,
    outputLen: outputBytes,
  }
  const dummy = dummyVerifier(config, deps.ids)
  const threads = createThreads(deps)

  /** What follows a hash has waited for long, and goes on when others are served. */
  async function ask(question: HashingQuestion): Promise<string | boolean> {
    const value = await threads.ask(question)
    await afterOthers()
    return value
  }

  async function verify(verifier: string, password: string): Promise<boolean> {
    if (!parsePhc(verifier)) {
      log.error('a stored password verifier cannot be read')
      return false
    }
    return (await ask({ kind: 'verify', verifier, password })) === true
  }

  return {
    verify,
    async hash(password) {
      const salt = deps.ids.bytes(saltBytes)
      return String(await ask({ kind: 'hash', password, salt, options }))
    },
    async verifyDummy(password) {
      await verify(dummy, password)
      return false
    },
    needsRehash(verifier) {
      const phc = parsePhc(verifier)
      return !phc || isWeaker(phc, config)
    },
    depth: threads.depth,
    stop: threads.stop,
  }
}

/** A queue and the threads that serve it. A thread starts when it is first needed. */
function createThreads({ config, clock, log, observe, startWorker = startThread }: HashingDeps) {
  const threadsMax = config.concurrency || Math.max(1, Math.floor(availableParallelism() / 2))
  const threads = new Set<Thread>()
  const waiting: Job[] = []
  let stopped = false

  function ask(question: HashingQuestion): Promise<string | boolean> {
    if (stopped) return Promise.reject(new Error('password hashing has stopped'))
    const thread = idleThread()
    if (!thread && waiting.length >= config.queue) {
      return Promise.reject(refuse.rateLimited(1, 'the queue of password hashing is full'))
    }
    return new Promise((resolve, reject) => {
      const job: Job = { question, resolve, reject }
      if (thread) begin(thread, job)
      else waiting.push(job)
    })
  }

  function idleThread(): Thread | undefined {
    for (const thread of threads) if (!thread.job) return thread
    return threads.size < threadsMax ? addThread() : undefined
  }

  function addThread(): Thread {
    const thread: Thread = { worker: startWorker(), job: undefined, startedMs: 0, crash: undefined }
    thread.worker.unref()
    thread.worker.on('message', (answer: HashingAnswer) => finish(thread, answer))
    thread.worker.on('error', (error: Error) => {
      thread.crash = error
    })
    thread.worker.on('exit', () => lose(thread))
    threads.add(thread)
    return thread
  }

  function begin(thread: Thread, job: Job): void {
    thread.job = job
    thread.startedMs = clock.monotonicMs()
    // Only a thread at work keeps the process alive, so that a command may simply await its hash.
    thread.worker.ref()
    thread.worker.postMessage(job.question)
  }

  function finish(thread: Thread, answer: HashingAnswer): void {
    const job = thread.job
    observe?.(clock.monotonicMs() - thread.startedMs)
    thread.job = undefined
    thread.worker.unref()
    const next = waiting.shift()
    if (next) begin(thread, next)
    if ('error' in answer) job?.reject(new Error(`password hashing failed: ${answer.error}`))
    else job?.resolve(answer.value)
  }

  /** A thread that ended takes its one job with it; the next job gets a new thread. */
  function lose(thread: Thread): void {
    threads.delete(thread)
    const error = thread.crash ?? new Error('the thread ended')
    if (!stopped) log.error('a password hashing thread ended unexpectedly', { error })
    thread.job?.reject(new Error('password hashing failed', { cause: error }))
    const next = stopped ? undefined : waiting.shift()
    if (next) begin(addThread(), next)
  }

  async function stop(): Promise<void> {
    stopped = true
    for (const job of waiting.splice(0)) job.reject(new Error('password hashing has stopped'))
    await Promise.all([...threads].map((thread) => thread.worker.terminate()))
  }

  return { ask, stop, depth: () => waiting.length }
}

function startThread(): Worker {
  return new Worker(new URL('./hashing-worker.ts', import.meta.url), {
    name: 'password-hashing',
    env: {},
    execArgv: [],
  })
}

/**
 * A verifier of nobody's password: its output is random, and not the hash of anything known. It
 * needs no hashing to be made, so even the first check of an unknown account takes no longer.
 */
function dummyVerifier(config: HashingConfig, ids: Pick<Ids, 'bytes'>): string {
  const { memory_kib, iterations, parallelism } = config
  const salt = unpaddedBase64(ids.bytes(saltBytes))
  const output = unpaddedBase64(ids.bytes(outputBytes))
  const costs = `m=${memory_kib},t=${iterations},p=${parallelism}`
  return `$argon2id$v=19$${costs}$${salt}$${output}`
}

function unpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
