import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { vi } from 'vitest'

export type Ended = { code: number; said: string }

export type Running = {
  /** Where its node listens. */
  url: string
  said(): string
  stop(): Promise<void>
}

/** Runs commands in a project as a person does: by name, with npm and its own registry. */
export function createStudio({ registry, cache }: { registry: string; cache: string }) {
  // What the npm that runs the tests has said to them is not for this one.
  const outside = Object.entries(process.env).filter(([name]) => !/^(npm|GUILDHALL)_/.test(name))
  const env = {
    ...Object.fromEntries(outside),
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    npm_config_registry: registry,
    npm_config_cache: cache,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    GUILDHALL_HTTP__BIND: '127.0.0.1:0',
    GUILDHALL_TRANSPORT__QUIC__ENABLED: 'false',
  }

  function run(cwd: string, [command = '', ...args]: readonly string[]): Promise<Ended> {
    return new Promise((resolve) => {
      execFile(command, args, { cwd, env }, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, said: stdout + stderr })
      })
    })
  }

  /** Starts what runs until it is stopped, and waits for a node's ready line. */
  async function start(
    cwd: string,
    [command = '', ...args]: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<Running> {
    // A group of its own: npm starts a shell, which starts the node.
    const options = { cwd, env: { ...env, ...more }, detached: true, stdio: 'pipe' } as const
    const child = spawn(command, args, options)
    let said = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text))
    const url = await vi.waitUntil(() => {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${said}`)
      return / ready http=(\S+)/.exec(said)?.[1]
    }, 60_000)
    return { url, said: () => said, stop: () => stop(child) }
  }

  return { run, start }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await exited
}
