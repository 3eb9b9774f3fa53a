import type { Host } from '../../host.ts'
import type { Stats } from '../connection-types.ts'
import { type Message, messageOf } from '../sending/payload.ts'

const keptMs = 5_000
const envelopesMax = 256
const bytesMax = 262_144

/** Somewhere that messages of the game may be heard: the connection, or the room of the moment. */
export type Ear = { hears(kind: number): boolean; hear(message: Message): void }

/** `deliver` answers whether somebody heard it. */
type Kept = { bytes: number; deliver(): boolean; atMs: number }

/**
 * The application envelopes and pushed events that arrive. What nobody listens to is kept for a
 * while, so that a listener that is added a moment after connecting or joining misses nothing.
 */
export class Inbox {
  readonly #host: Host
  readonly #stats: Stats
  readonly #connection: Ear
  #kept: Kept[] = []
  #keptBytes = 0

  constructor(host: Host, stats: Stats, connection: Ear) {
    this.#host = host
    this.#stats = stats
    this.#connection = connection
  }

  take(kind: number, body: Uint8Array, room: Ear | null): void {
    const message = messageOf(kind, body)
    this.offer(body.length, () => this.#deliver(message, room))
  }

  /** Something else of `bytes` bytes, which `deliver` hands to its listeners if it has any. */
  offer(bytes: number, deliver: () => boolean): void {
    if (deliver()) return
    this.#kept.push({ bytes, deliver, atMs: this.#host.monotonicMs() })
    this.#keptBytes += bytes
    this.#trim()
  }

  /** A listener was added: it gets what was kept for it, before anything new. */
  listened(): void {
    queueMicrotask(() => {
      this.#trim()
      this.#keep((kept) => !kept.deliver())
    })
  }

  #deliver(message: Message, room: Ear | null): boolean {
    const ears = [this.#connection, room].filter((ear) => ear?.hears(message.kind))
    for (const ear of ears) ear?.hear(message)
    return ears.length > 0
  }

  #trim(): void {
    const oldestMs = this.#host.monotonicMs() - keptMs
    for (const { atMs } of [...this.#kept]) {
      const isOver = this.#kept.length > envelopesMax || this.#keptBytes > bytesMax
      if (!isOver && atMs >= oldestMs) return
      const dropped = this.#kept.shift()
      this.#keptBytes -= dropped?.bytes ?? 0
      this.#stats.unheard += 1
    }
  }

  #keep(holds: (kept: Kept) => boolean): void {
    this.#kept = this.#kept.filter(holds)
    this.#keptBytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}
