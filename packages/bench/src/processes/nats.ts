import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type NatsServer = AsyncDisposable & { readonly url: string }

/** A NATS server of its own; undefined where none is installed. */
export async function startNats(): Promise<NatsServer | undefined> {
  const port = await freePort()
  const child = spawn('nats-server', ['--addr', '127.0.0.1', '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (!(await isReady(child))) return undefined
  return {
    url: `nats://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

const readyTimeoutMs = 10_000

/** False where there is no such program. */
async function isReady(child: ChildProcess): Promise<boolean> {
  let said = ''
  const ready = new Promise<boolean>((resolve, reject) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => reject(new Error(`nats-server ended with ${code}:\n${said}`)))
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      if (said.includes('Server is ready')) resolve(true)
    })
  })
  let isOver = false
  const late = sleep(readyTimeoutMs, undefined, { ref: false }).then(() => {
    if (!isOver) child.kill('SIGKILL')
    throw new Error(`nats-server was not ready in time:\n${said}`)
  })
  const found = await Promise.race([ready, late])
  isOver = true
  return found
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
