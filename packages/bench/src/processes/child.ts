import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cores, pinned } from './cores.ts'
import { cpuMsOf, cpuMsOfFamily, residentBytesOf, startedBy } from './proc.ts'

/** A process under measurement. Disposing of it stops it. */
export type Child = AsyncDisposable & {
  readonly pid: number
  /** Milliseconds from its start to its ready line. */
  readonly readyMs: number
  /** What the ready line says behind `NAME=`. */
  fact(name: string): string
  /** The port of the address on its ready line. */
  readonly port: number
  /**
   * CPU time of all its threads since its start, in milliseconds, and of the processes that it
   * started and that still run: the game's script has one of its own.
   */
  cpuMs(): number
  /** Of that, the CPU time of the processes that it started. */
  startedCpuMs(): number
  residentBytes(): number
  /** Of the processes that it started. */
  startedResidentBytes(): number
  stop(): Promise<void>
}

export type ChildOptions = {
  /** The program; Node.js if not given. */
  program?: string | undefined
  /** Its arguments. */
  args: readonly string[]
  cwd: string
  /** Its whole environment, besides PATH. */
  env?: Readonly<Record<string, string>>
  cores: Cores | undefined
  /** Where it runs: on the server's core, unless it needs more than one. */
  on?: 'server' | 'both' | undefined
  /** One that takes longer to be ready is broken, not slow; 30 seconds if not given. */
  readyWithinMs?: number | undefined
}

/** Starts a process and waits until it prints a line that contains `ready` and `NAME=VALUE`s. */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { args, cwd, env, cores, on, readyWithinMs = readyTimeoutMs } = options
  const program = options.program ?? process.execPath
  const places = cores && { server: [cores.server], both: Object.values(cores) }
  const [command, ...rest] = pinned([program, ...args], places?.[on ?? 'server'])
  const startMs = performance.now()
  const child = spawn(command, rest, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const heard = listen(child)
  const line = await readyLine(child, heard, readyWithinMs)
  const readyMs = performance.now() - startMs
  const pid = child.pid ?? 0
  const fact = (name: string) => new RegExp(`\\b${name}=(\\S+)`).exec(line)?.[1] ?? ''
  const stop = () => end(child)
  const alive = <Answer>(ask: (pid: number) => Answer): Answer => {
    if (!hasEnded(child)) return ask(pid)
    throw new Error(`a process died under load:\n${heard()}`)
  }
  return {
    pid,
    readyMs,
    fact,
    port: Number(/:(\d+)(?:\s|$)/.exec(line)?.[1]),
    cpuMs: () => alive(cpuMsOfFamily),
    startedCpuMs: () => alive((own) => cpuMsOfFamily(own) - cpuMsOf(own)),
    residentBytes: () => alive(residentBytesOf),
    startedResidentBytes: () => alive((own) => sumOf(startedBy(own), residentBytesOf)),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function sumOf(pids: readonly number[], figure: (pid: number) => number): number {
  return pids.reduce((sum, pid) => sum + figure(pid), 0)
}

const readyTimeoutMs = 30_000
const stopTimeoutMs = 10_000

/** As much of what a process says as helps when it fails. */
const heardCharacters = 4000

/** Answers the end of what the process has said so far, on both outputs. */
function listen(child: ChildProcess): () => string {
  let said = ''
  for (const output of [child.stdout, child.stderr]) {
    output?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-heardCharacters)
    })
  }
  return () => said
}

async function readyLine(
  child: ChildProcess,
  heard: () => string,
  withinMs: number,
): Promise<string> {
  const line = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const found = /^.*\bready\b.*=.*\n/m.exec(heard())?.[0]
      if (found !== undefined) resolve(found)
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      reject(new Error(`a process ended with ${code} before it was ready:\n${heard()}`))
    })
  })
  let isReady = false
  const late = sleep(withinMs, undefined, { ref: false }).then(() => {
    if (!isReady) child.kill('SIGKILL')
    throw new Error(`a process was not ready in time:\n${heard()}`)
  })
  const first = await Promise.race([line, late])
  isReady = true
  return first
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const impatience = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  await exited
  clearTimeout(impatience)
}
