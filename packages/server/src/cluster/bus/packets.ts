import { atEndOfTurn } from '../../kernel/clock.ts'
import { BadMessage, WireReader, WireWriter } from '../../kernel/cluster/wire.ts'

/** Gathers what one turn sends to each target, so that it travels together. */
export type Gathering = {
  add(target: string, message: Uint8Array): void
  readonly bytes: number
}

export function gatherByTurn(
  leave: (packets: { target: string; packet: Uint8Array }[]) => void,
): Gathering {
  let waiting = new Map<string, WireWriter>()
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    add(target, message) {
      if (waiting.size === 0) {
        atEndOfTurn(() => {
          const gathered = waiting
          waiting = new Map()
          bytes = 0
          leave(
            Array.from(gathered, ([each, packet]) => ({ target: each, packet: packet.finish() })),
          )
        })
      }
      const packet = waiting.get(target) ?? new WireWriter()
      waiting.set(target, packet)
      packet.u32(message.length)
      packet.bytes(message)
      bytes += message.length
    },
  }
}

/** The messages of a packet. */
export function messagesOf(packet: Uint8Array): Uint8Array[] {
  const from = new WireReader(packet)
  const messages: Uint8Array[] = []
  while (from.left > 0) messages.push(from.bytes(from.u32()))
  return messages
}

const headerBytes = 16

/** Cuts packets into parts of at most `partBytes`, each with where it belongs. */
export function createCutter(sender: Uint8Array, partBytes: number) {
  let count = 0
  return (packet: Uint8Array): Uint8Array[] => {
    count = (count + 1) % 2 ** 32
    const size = partBytes - headerBytes
    const parts = Math.max(1, Math.ceil(packet.length / size))
    return Array.from({ length: parts }, (_, at) => {
      const out = new WireWriter()
      out.bytes(sender)
      out.u32(count)
      out.u32(at + 1 === parts ? at + 2 ** 31 : at)
      out.bytes(packet.subarray(at * size, (at + 1) * size))
      return out.finish()
    })
  }
}

/** A packet larger than this is none of a node's. */
const packetBytesMax = 64 * 1024 * 1024
/** Packets that are there in parts, of as many senders. */
const sendersMax = 8192

type Partial = { count: number; parts: Uint8Array[]; bytes: number }

/**
 * Puts parts together again. Parts of one sender come in order; where one is missing, its packet is
 * lost.
 *
 * @throws BadMessage for what is no part
 */
export function createJoiner(): (part: Uint8Array) => Uint8Array | undefined {
  const open = new Map<string, Partial>()
  return (part) => {
    const from = new WireReader(part)
    const sender = Buffer.from(from.bytes(8)).toString('latin1')
    const [count, place] = [from.u32(), from.u32()]
    const isLast = place >= 2 ** 31
    const at = place % 2 ** 31
    const rest = from.bytes(from.left)
    const known = open.get(sender)
    open.delete(sender)
    if (at === 0 && isLast) return rest
    const partial = at === 0 ? { count, parts: [], bytes: 0 } : known
    if (partial === undefined || partial.count !== count || partial.parts.length !== at) {
      throw new BadMessage('a part without those before it')
    }
    partial.parts.push(Uint8Array.from(rest))
    partial.bytes += rest.length
    if (isLast) return Buffer.concat(partial.parts)
    if (partial.bytes > packetBytesMax) throw new BadMessage('a packet that does not end')
    if (open.size >= sendersMax) open.clear()
    open.set(sender, partial)
    return undefined
  }
}
