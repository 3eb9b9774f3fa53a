import { varint } from '../varint.ts'

/** Numbers of HTTP/3 and of WebTransport over it, as far as the node uses them. */
export const streamTypes = { control: 0x00, webTransport: 0x54 } as const
/** What a stream of WebTransport in both directions begins with, where requests have a frame. */
export const webTransportStream = 0x41
export const frameTypes = { data: 0x00, headers: 0x01, settings: 0x04 } as const
export const closeSessionCapsule = 0x2843
export const errorCodes = {
  noError: 0x100,
  generalProtocol: 0x101,
  excessiveLoad: 0x107,
  messageError: 0x10e,
} as const

const settings: readonly (readonly [id: number, value: number])[] = [
  // Extended CONNECT, and datagrams as they are and as they were in drafts.
  [0x08, 1],
  [0x33, 1],
  [0xffd277, 1],
  // WebTransport as of draft 2, and as of draft 7 with one session.
  [0x2b603742, 1],
  [0xc671706a, 1],
]

/** What the node's control stream begins with. */
export function controlStream(): Uint8Array {
  const pairs = settings.flatMap(([id, value]) => [...varint(id), ...varint(value)])
  return Uint8Array.from([streamTypes.control, ...frame(frameTypes.settings, pairs)])
}

export function frame(type: number, payload: ArrayLike<number>): Uint8Array {
  return Uint8Array.from([...varint(type), ...varint(payload.length), ...Array.from(payload)])
}

/** The end of a session with its code and reason, as a frame of its stream. */
export function closeSession(code: number, reason: string): Uint8Array {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(code)
  return frame(
    frameTypes.data,
    frame(closeSessionCapsule, Buffer.concat([value, Buffer.from(reason)])),
  )
}
