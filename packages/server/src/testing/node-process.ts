import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { environmentName } from '../config/sources/environment.ts'

/** A node in a process of its own, as its operators run it. */
export type NodeProcess = {
  /** From the ready line, e.g. `http://127.0.0.1:40123`. */
  url: string
  pid: number
  /** Everything it has said so far, on both outputs. */
  output(): string
  /** Asks it to stop and answers with the exit code. */
  stop(): Promise<number | null>
  /** Ends it as a power cut would. */
  kill(): Promise<void>
}

/** A node whose start has begun: it may be killed before it is ready. */
export type StartingNode = Pick<NodeProcess, 'output' | 'kill'> & {
  /** Rejects when the process ends before; the message holds what it said. */
  ready: Promise<NodeProcess>
  /** Resolves when it first says something, which is before it opens its database. */
  speaks: Promise<void>
}

/**
 * Room for young objects from the start, in MiB, and at most as much as `npm start` gives: V8 begins
 * with one and doubles it, by collections that are a tenth of what a short life computes.
 */
const youngObjects = ['--min-semi-space-size=16', '--max-semi-space-size=32']

/** As `npm start` runs it; all tests begin with a build of what is stale. */
export const builtMain = fileURLToPath(new URL('../../dist/main.mjs', import.meta.url))

const { PATH, NODE_COMPILE_CACHE } = process.env
/** What its workers need as well, who find their program compiled. */
export const builtEnvironment: NodeJS.ProcessEnv = { PATH, NODE_COMPILE_CACHE }

/**
 * Starts a node on a free port and waits until it is ready.
 *
 * @param keys Configuration that differs from the defaults, e.g. `{ 'database.url': 'sqlite:x.db' }`
 * @throws when the process ends before it is ready; the message holds what it said
 */
export function startNodeProcess(
  keys: Readonly<Record<string, string>> = {},
  options: { cwd?: string } = {},
): Promise<NodeProcess> {
  return spawnNodeProcess(keys, options).ready
}

/** Begins the start of a node on a free port. */
export function spawnNodeProcess(
  keys: Readonly<Record<string, string>>,
  options: { cwd?: string } = {},
): StartingNode {
  // Only one process of a machine can have the UDP port that a node has by default.
  const own = { 'http.bind': '127.0.0.1:0', 'transport.quic.enabled': 'false' }
  const configured = { ...own, ...keys }
  const variables = Object.entries(configured).map(([key, value]) => [environmentName(key), value])
  const child = spawn(process.execPath, [...youngObjects, builtMain, 'serve', '--log'], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...builtEnvironment, ...Object.fromEntries(variables) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const hear = (chunk: Buffer) => {
    said += chunk.toString()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const output = () => said
  const kill = async () => void (await end(child, 'SIGKILL'))
  const ready = readyUrl(child, output).then((url) => {
    return { url, pid: child.pid ?? 0, output, stop: () => end(child, 'SIGTERM'), kill }
  })
  const speaks = Promise.race([once(child.stderr, 'data'), ready]).then(() => {})
  // It rejects for whoever waits for it; nobody has to.
  speaks.catch(() => {})
  return { ready, speaks, output, kill }
}

async function readyUrl(child: ChildProcess, said: () => string): Promise<string> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the node ended with ${code} before it was ready:\n${said()}`)
  })
  for (;;) {
    const url = / ready http=(\S+)/.exec(said())?.[1]
    if (url !== undefined) {
      failed.catch(() => {})
      return url
    }
    await Promise.race([once(child.stdout ?? child, 'data'), failed])
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
  return child.exitCode
}
