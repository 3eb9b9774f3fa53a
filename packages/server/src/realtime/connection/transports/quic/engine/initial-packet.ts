import { createCipheriv, createHmac } from 'node:crypto'
import { readVarint, varint } from '../varint.ts'

/**
 * Initial packets of QUIC version 1, which anybody can read and write: their keys follow from the
 * connection id that the client has chosen (RFC 9001, 5.2). The node answers one itself where the
 * engine is not to begin a connection.
 */
export type Initial = {
  destination: Uint8Array
  source: Uint8Array
  token: Uint8Array
  /** The packet without what else its datagram carries; its number and payload are protected. */
  packet: Uint8Array
  numberAt: number
}

export type InitialKeys = { key: Uint8Array; iv: Uint8Array; header: Uint8Array }

/** Whose packets keys are for. */
export type Side = 'client' | 'server'

const salt = Buffer.from('38762cf7f55934b34d179ae6a4c80cadccbb7f0a', 'hex')
export const tagBytes = 16
/** Connection ids of version 1 are at most so long. */
const idBytesMax = 20
const version1 = 1
const closeOfTransport = 0x1c

/** A code that connections end with. */
export const connectionRefused = 2

/** Reads the header of the first packet of a datagram; undefined when it is no whole Initial. */
export function readInitial(datagram: Uint8Array): Initial | undefined {
  const first = datagram[0] ?? 0
  if ((first & 0xf0) !== 0xc0 || datagram.length < 7) return undefined
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength)
  if (view.getUint32(1) !== version1) return undefined
  const destination = bytesAt(datagram, 6, datagram[5])
  const sourceAt = 7 + (destination?.length ?? 0)
  const source = destination && bytesAt(datagram, sourceAt, datagram[sourceAt - 1])
  if (source === undefined || destination === undefined) return undefined
  if (destination.length > idBytesMax || source.length > idBytesMax) return undefined
  const tokenLength = readVarint(datagram, 7 + destination.length + source.length)
  const token = tokenLength && bytesAt(datagram, tokenLength.end, tokenLength.value)
  if (token === undefined || tokenLength === undefined) return undefined
  const length = readVarint(datagram, tokenLength.end + token.length)
  if (length === undefined || length.value < 4 + tagBytes) return undefined
  const end = length.end + length.value
  if (end > datagram.length) return undefined
  const packet = datagram.subarray(0, end)
  return { destination, source, token, packet, numberAt: length.end }
}

/** An Initial of one of the sides with its first number. */
export function sealInitial(
  header: { destination: Uint8Array; source: Uint8Array; token?: Uint8Array },
  frames: Uint8Array,
  { id, from }: { id: Uint8Array; from: Side },
): Uint8Array {
  const { destination, source, token = new Uint8Array() } = header
  const keys = initialKeys(id, from)
  const numberBytes = 4
  const length = numberBytes + frames.length + tagBytes
  const head = Buffer.from([
    0xc0 | (numberBytes - 1),
    ...[0, 0, 0, version1],
    ...[destination.length, ...destination],
    ...[source.length, ...source],
    ...varint(token.length),
    ...token,
    ...varint(length),
    ...[0, 0, 0, 0],
  ])
  const cipher = createCipheriv('aes-128-gcm', keys.key, nonceOf(keys, 0))
  cipher.setAAD(head)
  const body = Buffer.concat([cipher.update(frames), cipher.final(), cipher.getAuthTag()])
  const mask = headerMask(keys, body.subarray(0, tagBytes))
  head[0] = (head[0] ?? 0) ^ ((mask[0] ?? 0) & 0x0f)
  const numberAt = head.length - numberBytes
  for (let at = 0; at < numberBytes; at += 1) head[numberAt + at] = mask[at + 1] ?? 0
  return Buffer.concat([head, body])
}

/** Ends a connection that has not begun: CONNECTION_CLOSE in answer to the peer's Initial. */
export function closeInitial({ destination, source }: Initial, code: number): Uint8Array {
  // The code, no frame that it is about, and no reason.
  const frames = Uint8Array.from([closeOfTransport, ...varint(code), 0, 0])
  return sealInitial({ destination: source, source: destination }, frames, {
    id: destination,
    from: 'server',
  })
}

/** The keys of one side; `id` is the client's first connection id, that of the Retry behind one. */
export function initialKeys(id: Uint8Array, from: Side): InitialKeys {
  const initial = hmac(salt, id)
  const secret = expand(initial, from === 'client' ? 'client in' : 'server in', 32)
  return {
    key: expand(secret, 'quic key', 16),
    iv: expand(secret, 'quic iv', 12),
    header: expand(secret, 'quic hp', 16),
  }
}

/** HKDF-Expand-Label of TLS 1.3 for what one block of the hash covers. */
function expand(secret: Uint8Array, label: string, length: number): Buffer {
  const name = Buffer.from(`tls13 ${label}`)
  const info = Buffer.concat([Buffer.from([0, length, name.length]), name, Buffer.from([0, 1])])
  return hmac(secret, info).subarray(0, length)
}

function hmac(key: Uint8Array, bytes: Uint8Array): Buffer {
  return createHmac('sha256', key).update(bytes).digest()
}

/** What hides the number of a packet. */
export function headerMask({ header }: InitialKeys, sample: Uint8Array): Uint8Array {
  return createCipheriv('aes-128-ecb', header, null).update(sample)
}

export function nonceOf({ iv }: InitialKeys, number: number): Buffer {
  const bytes = Buffer.from(iv)
  bytes.writeUInt32BE((bytes.readUInt32BE(8) ^ number) >>> 0, 8)
  return bytes
}

function bytesAt(bytes: Uint8Array, at: number, length?: number): Uint8Array | undefined {
  if (length === undefined || at + length > bytes.length) return undefined
  return bytes.subarray(at, at + length)
}
