import { admissionKey } from './admissions.ts'
import type { CoreServer } from './core.ts'
import { readInitial } from './initial-packet.ts'

/** The ids that the engine gives its connections, with a Retry and for good. */
const ownIdBytes = 20

/** Which server has each connection that the node has admitted. */
export class Routes<Server = CoreServer> {
  readonly #byKey = new Map<string, Server>()
  /** Connections that are to hear nothing any more. */
  readonly #shut = new Set<string>()
  readonly #anyone: () => Server

  /** @param anyone answers a server that takes new connections */
  constructor(anyone: () => Server) {
    this.#anyone = anyone
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  begin(key: string, server: Server): void {
    this.#byKey.set(key, server)
  }

  /** Packets of the connection are for nobody from here on. */
  shut(key: string): void {
    this.#shut.add(key)
  }

  end(key: string): void {
    this.#shut.delete(key)
    this.#byKey.delete(key)
  }

  /**
   * The servers that a packet is for, of those that its address has connections on. An Initial with
   * a token would begin a connection on any server that does not know it, so it is for the one of
   * its connection or for none; one without a token is answered by a Retry, whoever gets it.
   */
  serversFor(packet: Uint8Array, address: string, known: readonly { server: Server }[]): Server[] {
    const servers = new Set(known.map(({ server }) => server))
    const initial = readInitial(packet)
    if (initial === undefined && servers.size < 2 && this.#shut.size === 0) return [...servers]
    const key = keyOf(packet, address)
    if (this.#shut.has(key)) return []
    const own = this.#byKey.get(key)
    if (own !== undefined) return [own]
    if (initial === undefined) return [...servers]
    return initial.token.length === 0 ? [this.#anyone()] : []
  }
}

/** The key of the connection that a packet is for. */
export function keyOf(packet: Uint8Array, address: string): string {
  return admissionKey(address, idOf(packet))
}

/** What a packet is addressed to: one with a long header says how long that is. */
function idOf(packet: Uint8Array): Uint8Array {
  const hasLongHeader = ((packet[0] ?? 0) & 0x80) !== 0
  return hasLongHeader
    ? packet.subarray(6, 6 + (packet[5] ?? 0))
    : packet.subarray(1, 1 + ownIdBytes)
}
