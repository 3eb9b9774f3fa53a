import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { environmentName } from '../config/environment.ts'

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

const main = fileURLToPath(new URL('../main.ts', import.meta.url))

/**
 * Starts a node on a free port and waits until it is ready.
 *
 * @param keys Configuration that differs from the defaults, e.g. `{ 'database.url': 'sqlite:x.db' }`
 * @throws when the process ends before it is ready; the message holds what it said
 */
export async function startNodeProcess(
  keys: Readonly<Record<string, string>> = {},
  options: { cwd?: string } = {},
): Promise<NodeProcess> {
  const configured = { 'http.bind': '127.0.0.1:0', ...keys }
  const variables = Object.entries(configured).map(([key, value]) => [environmentName(key), value])
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: options.cwd ?? tmpdir(),
    env: { PATH: process.env.PATH, ...Object.fromEntries(variables) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const hear = (chunk: Buffer) => {
    said += chunk.toString()
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const url = await readyUrl(child, () => said)
  return {
    url,
    pid: child.pid ?? 0,
    output: () => said,
    stop: () => end(child, 'SIGTERM'),
    async kill() {
      await end(child, 'SIGKILL')
    },
  }
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
