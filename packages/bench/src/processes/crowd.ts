import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Bench } from '../benchmark.ts'
import { pinned } from './cores.ts'

export type Crowd = {
  /** Lets those who have begun finish; answers how many there were. */
  stop(): Promise<number>
}

const programs = {
  newcomers: new URL('../load/sign-up-crowd.ts', import.meta.url),
  recorders: new URL('../load/recorder-crowd.ts', import.meta.url),
}

/** What the crowd itself computes must not hold up what measures on the same core. */
const niceness = 10

/** Starts a crowd that goes on until it is stopped, in a process of its own. */
export async function startCrowd(
  bench: Bench,
  program: keyof typeof programs,
  options: readonly (string | number)[],
): Promise<Crowd> {
  const args = [fileURLToPath(programs[program]), ...options.map(String)]
  const [command, ...rest] = pinned(
    ['nice', '-n', String(niceness), process.execPath, ...args],
    bench.cores && [bench.cores.load],
  )
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let said = ''
  const isReady = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      resolve()
    })
  })
  await Promise.race([isReady, exited])
  return {
    async stop() {
      child.kill('SIGTERM')
      await exited
      const [, made] = /^made=(\d+)$/m.exec(said) ?? []
      if (made === undefined) throw new Error('the crowd ended before it was seen to')
      return Number(made)
    },
  }
}
