import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'

const main = join(import.meta.dirname, '../../../server/dist/main.mjs')

export type Credentials = { username: string; password: string }

export const admin: Credentials = { username: 'admin', password: 'password' }
export const viewer: Credentials = { username: 'vera', password: 'only-looks' }

/** A node in a process of its own, and the console of its admin. */
export type ServedNode = {
  url: string
  client: ConsoleClient
  /** What the page keeps of somebody who has signed in: each signs in once. */
  sessionOf(operator: Credentials): Promise<string>
  /** Ends the process as a crash does. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Starts a node in memory, which serves the page that was built. */
export async function serveNode(
  settings: Readonly<Record<string, string>> = {},
): Promise<ServedNode> {
  const child = spawn(process.execPath, [main, 'serve'], {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      GUILDHALL_HTTP__BIND: '127.0.0.1:0',
      GUILDHALL_CONSOLE__VIEWER_USERNAME: viewer.username,
      GUILDHALL_CONSOLE__VIEWER_PASSWORD: viewer.password,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await readyUrl(child)
  const client = createConsoleClient(url)
  await client.signIn(admin)
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  const sessions = new Map<string, Promise<string>>()
  return {
    url,
    client,
    sessionOf(operator) {
      const session = sessions.get(operator.username) ?? sessionText(client, operator)
      sessions.set(operator.username, session)
      return session
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

async function sessionText(client: ConsoleClient, body: Credentials): Promise<string> {
  const { token, role, expires_in_sec } = await client.console.login({ body })
  const endsAtUnixMs = Date.now() + expires_in_sec * 1_000
  return JSON.stringify({ token, role, username: body.username, endsAtUnixMs, expired: false })
}

async function readyUrl({ stdout, stderr }: ChildProcess): Promise<string> {
  let said = ''
  // What is not read would fill the pipe.
  stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  if (stdout === null) throw new Error('the node has no output')
  for await (const chunk of stdout) {
    said += String(chunk)
    const url = / ready http=(\S+)/.exec(said)?.[1]
    if (url !== undefined) return url
  }
  throw new Error(`the node ended before it was ready:\n${said}`)
}
