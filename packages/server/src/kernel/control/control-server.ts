import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { reasonOf } from '../errors/reason.ts'
import type { Log } from '../log/log.ts'
import { readJsonLine } from './json-line.ts'

/** What a command asks for, by its name; answers are JSON. */
export type ControlHandlers = {
  readonly [command: string]: (argument: unknown) => Promise<unknown>
}

export type ControlServer = { close(): Promise<void> }

/**
 * Listens to commands of the same user on the same machine: one line of JSON, one line of answer. A
 * node that cannot listen runs all the same.
 */
export async function openControl(
  path: string,
  handlers: ControlHandlers,
  log: Log,
): Promise<ControlServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    void answer(socket, handlers)
  })
  server.unref()
  try {
    prepare(path)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, resolve)
    })
    if (process.platform !== 'win32') chmodSync(path, 0o600)
  } catch (error) {
    log.warn('commands such as `reload` cannot reach this node', { reason: reasonOf(error) })
    return { close: async () => {} }
  }
  return {
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** A folder that only this user can enter, and no socket of a node that is gone. */
function prepare(path: string): void {
  if (process.platform === 'win32') return
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = lstatSync(folder)
  const isPrivate = uid === process.getuid?.() && (mode & 0o077) === 0
  if (!isPrivate) throw new Error(`${folder} is open to others`)
  rmSync(path, { force: true })
}

async function answer(socket: Socket, handlers: ControlHandlers): Promise<void> {
  const request = await readJsonLine(socket)
  const { command, argument } = isRequest(request) ? request : {}
  const handle =
    command !== undefined && Object.hasOwn(handlers, command) ? handlers[command] : undefined
  try {
    if (handle === undefined) throw new Error('this node does not know the command')
    socket.end(`${JSON.stringify({ ok: true, value: await handle(argument) })}\n`)
  } catch (error) {
    socket.end(`${JSON.stringify({ ok: false, problem: reasonOf(error) })}\n`)
  }
}

function isRequest(value: unknown): value is { command?: string; argument?: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'command' in value &&
    typeof value.command === 'string'
  )
}
