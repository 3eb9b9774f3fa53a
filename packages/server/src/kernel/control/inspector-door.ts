import { connect, createServer, type Socket } from 'node:net'
import type { Log } from '../log/log.ts'

/** What a debugger is led to: a process whose inspector listens on a port of its own. */
export type Inspected = {
  /** Of 127.0.0.1; undefined while its engine starts. */
  readonly inspectorPort: number | undefined
  /**
   * Whether a debugger is attached. Resolves when the process knows, which then may be held for
   * as long as it likes.
   */
  debug(attached: boolean): Promise<void>
}

type InspectorDoorDeps = {
  address: { readonly host: string; readonly port: number }
  log: Log
  /** What serves at this moment; undefined while nothing does. */
  target(): Inspected | undefined
}

/** More debuggers, or a longer head of a request, come from no debugger. */
const connectionsMax = 16
const headBytesMax = 16_384

/**
 * One address for the inspector of whichever process serves, so that a debugger finds the next one
 * where it found the last: it loses its connection when another process serves, and attaches
 * again. The inspector itself answers and refuses foreign names (it looks at `Host`); what is read
 * here is only whether a request asks to attach.
 */
export class InspectorDoor {
  readonly #deps: InspectorDoorDeps
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #attached = new Map<Inspected, Set<Socket>>()
  readonly #sockets = new Set<Socket>()

  constructor(deps: InspectorDoorDeps) {
    this.#deps = deps
    this.#server.maxConnections = connectionsMax
  }

  /** Rejects when the address cannot be listened on. */
  async listen(): Promise<void> {
    const { address, log } = this.#deps
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject).listen(address, resolve)
    await promise
    const open = this.#server.address()
    const port = typeof open === 'object' ? open?.port : undefined
    const inspect = `${address.host}:${port}`
    log.warn('a debugger, of anybody on this machine, may attach to the script', { inspect })
  }

  /** Debuggers let go of a process: it is held no longer. */
  letGo(target: Inspected): void {
    for (const socket of this.#attached.get(target) ?? []) socket.destroy()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#sockets.delete(socket))
    let head = Buffer.alloc(0)
    const read = (bytes: Buffer) => {
      head = Buffer.concat([head, bytes])
      if (head.length > headBytesMax) socket.destroy()
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', read).pause()
      void this.#lead(socket, head)
    }
    socket.on('data', read)
  }

  async #lead(socket: Socket, head: Buffer): Promise<void> {
    const target = this.#deps.target()
    if (target?.inspectorPort === undefined) {
      socket.destroy()
      return
    }
    if (/^upgrade: *websocket/im.test(head.toString('latin1'))) await this.#attach(socket, target)
    if (socket.destroyed) return
    const inspector = connect(target.inspectorPort, '127.0.0.1')
    inspector.on('error', () => socket.destroy())
    inspector.on('close', () => socket.destroy())
    socket.on('close', () => inspector.destroy())
    inspector.write(head)
    socket.pipe(inspector).pipe(socket)
  }

  /** The process knows of its debugger before that one can hold it. */
  async #attach(socket: Socket, target: Inspected): Promise<void> {
    const sockets = this.#attached.get(target) ?? new Set()
    this.#attached.set(target, sockets.add(socket))
    socket.on('close', () => {
      sockets.delete(socket)
      if (sockets.size === 0 && this.#attached.delete(target)) void this.#release(target)
    })
    if (sockets.size > 1) return
    this.#deps.log.warn('a debugger is attached: deadlines and bounds of the script rest')
    await target.debug(true)
  }

  async #release(target: Inspected): Promise<void> {
    await target.debug(false)
    this.#deps.log.info('the debugger is gone: deadlines and bounds of the script hold again')
  }
}
