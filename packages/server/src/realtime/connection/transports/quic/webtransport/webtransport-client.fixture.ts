import type { QuicClient } from '../quic-client.fixture.ts'
import { readVarint } from '../varint.ts'
import { closeSessionCapsule, frame, frameTypes } from './http3.ts'

/** What the client's control stream begins with. */
export const control = Uint8Array.from([0, 4, 0])
/** What streams of session 0 begin with, in one direction and in both. */
export const oneWay = Uint8Array.from([0x40, 0x54, 0])
export const bothWays = Uint8Array.from([0x40, 0x41, 0])

type SessionRequest = { path?: string; protocol?: string; origin?: string; stream?: number }

/** Sends a request for a session, with headers as browsers write them, but for Huffman codes. */
export function request(client: QuicClient, options: SessionRequest): void {
  const { path = '/v1/realtime', protocol = 'webtransport', origin, stream = 0 } = options
  const text = (value: string) => [value.length, ...Buffer.from(value)]
  const block = [
    ...[0, 0, 0xcf, 0xd7],
    ...[0x50, ...text('localhost')],
    ...[0x51, ...text(path)],
    ...[0x27, 2, ...Buffer.from(':protocol'), ...text(protocol)],
    ...(origin === undefined ? [] : [0x5f, 75, ...text(origin)]),
  ]
  client.write(stream, frame(frameTypes.headers, block))
}

/** The code and reason of the capsule that ends a session, at the end of its stream. */
export function capsuleOf(session: Uint8Array): { code: number; reason: string } | undefined {
  for (let at = session.length - 1; at >= 0; at -= 1) {
    const type = readVarint(session, at)
    if (type?.value !== closeSessionCapsule) continue
    const length = readVarint(session, type.end)
    if (length === undefined || length.end + length.value !== session.length) continue
    const value = Buffer.from(session.subarray(length.end))
    return { code: value.readUInt32BE(), reason: value.toString('utf8', 4) }
  }
  return undefined
}
