import { generateKeyPairSync, sign } from 'node:crypto'
import type { CertificatePair } from './certificates.ts'

/** A certificate of its own authority for `localhost`, with a key that is made for it. */
export function makeCertificate(valid: {
  fromUnixMs: number
  untilUnixMs: number
}): CertificatePair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid('55', '04', '03'), text('localhost'))))
  const algorithm = sequence(oid('2a', '86', '48', 'ce', '3d', '04', '03', '02'))
  const body = sequence(
    integer(1),
    algorithm,
    name,
    sequence(time(valid.fromUnixMs), time(valid.untilUnixMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', body, privateKey))
  const base64 = sequence(body, algorithm, signature).toString('base64')
  const lines = base64.match(/.{1,64}/g) ?? []
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** One value of DER: its tag, its length, its content. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function set(...parts: Buffer[]): Buffer {
  return der(0x31, ...parts)
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.of(value))
}

function oid(...bytes: string[]): Buffer {
  return der(0x06, Buffer.from(bytes.join(''), 'hex'))
}

function text(value: string): Buffer {
  return der(0x0c, Buffer.from(value))
}

/** Generalized time, e.g. `20250101000000Z`. */
function time(unixMs: number): Buffer {
  const digits = new Date(unixMs).toISOString().replace(/\.\d+|[-:T]/g, '')
  return der(0x18, Buffer.from(digits))
}
