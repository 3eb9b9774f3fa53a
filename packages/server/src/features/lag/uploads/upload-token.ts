import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** What a token grants: one upload of one recorder of one capture. */
export type UploadClaims = {
  /** 32 hex digits. */
  capture_id: string
  generation: number
  attempt: number
  participant: number
  /** 0 outside rooms. */
  room_id: number
  expires_at_unix_ms: number
  /** Bound of the upload as it is sent. */
  max_compressed_bytes: number
  /** Bound of its records, unpacked. */
  max_bytes: number
  /** 16 bytes of the session, as hex. */
  session_tag: string
  /** 8 bytes of the boot, as hex. */
  boot_tag: string
}

export const claimsBytes = 80
const macBytes = 32
const prefix = 'lu1.'
const wholeToken = /^lu1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/

/** Names a session in a token, without saying it. */
export function sessionTag(sessionId: string): string {
  return digest(`lag-session:${sessionId}`).slice(0, 32)
}

export function bootTag(bootId: string): string {
  return digest(bootId).slice(0, 16)
}

/** @param key 32 secret bytes, of this boot alone */
export function mintToken(key: Uint8Array, claims: UploadClaims): string {
  const signed = `${prefix}${encodeClaims(claims).toString('base64url')}`
  return `${signed}.${macOf(key, signed).toString('base64url')}`
}

/** The claims of a token that was minted with this key; undefined for every other text. */
export function readToken(key: Uint8Array, token: string): UploadClaims | undefined {
  const [, claimsText, macText] = wholeToken.exec(token) ?? []
  const claims = canonical(claimsText, claimsBytes)
  const mac = canonical(macText, macBytes)
  if (claims === undefined || mac === undefined) return undefined
  const expected = macOf(key, `${prefix}${claimsText}`)
  return timingSafeEqual(mac, expected) ? decodeClaims(claims) : undefined
}

/** The bytes of a text that is their one way of writing; its last letter may have spare bits. */
function canonical(text: string | undefined, bytes: number): Buffer | undefined {
  if (text === undefined) return undefined
  const decoded = Buffer.from(text, 'base64url')
  return decoded.length === bytes && decoded.toString('base64url') === text ? decoded : undefined
}

export function encodeClaims(claims: UploadClaims): Buffer {
  const bytes = Buffer.alloc(claimsBytes)
  bytes.write(claims.capture_id, 0, 16, 'hex')
  bytes.writeUInt32BE(claims.generation, 16)
  bytes.writeUInt32BE(claims.attempt, 20)
  bytes.writeBigUInt64BE(BigInt(claims.participant), 24)
  bytes.writeBigUInt64BE(BigInt(claims.room_id), 32)
  bytes.writeBigUInt64BE(BigInt(claims.expires_at_unix_ms), 40)
  bytes.writeUInt32BE(claims.max_compressed_bytes, 48)
  bytes.writeUInt32BE(claims.max_bytes, 52)
  bytes.write(claims.session_tag, 56, 16, 'hex')
  bytes.write(claims.boot_tag, 72, 8, 'hex')
  return bytes
}

function decodeClaims(bytes: Buffer): UploadClaims {
  return {
    capture_id: bytes.toString('hex', 0, 16),
    generation: bytes.readUInt32BE(16),
    attempt: bytes.readUInt32BE(20),
    participant: Number(bytes.readBigUInt64BE(24)),
    room_id: Number(bytes.readBigUInt64BE(32)),
    expires_at_unix_ms: Number(bytes.readBigUInt64BE(40)),
    max_compressed_bytes: bytes.readUInt32BE(48),
    max_bytes: bytes.readUInt32BE(52),
    session_tag: bytes.toString('hex', 56, 72),
    boot_tag: bytes.toString('hex', 72, 80),
  }
}

function macOf(key: Uint8Array, signed: string): Buffer {
  return createHmac('sha256', key).update(signed, 'ascii').digest()
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
