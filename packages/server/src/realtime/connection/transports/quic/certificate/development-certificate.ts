import { generateKeyPairSync, sign } from 'node:crypto'
import type { Clock } from '../../../../../kernel/clock.ts'
import type { CertificatePair } from '../../../../../kernel/http/connection/certificates.ts'
import type { Ids } from '../../../../../kernel/ids.ts'
import { bits, integer, ipAddress, oid, sequence, set, tagged, time, utf8 } from './der.ts'

/** Browsers take a certificate by its hash when it lives for 14 days at most. */
const lifeMs = 13 * 86_400_000
const backdatedMs = 3_600_000
/** A node that runs for longer makes a new one a day before the end. */
export const developmentCertificateLifeMs = 12 * 86_400_000

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const commonName = oid('550403')
const subjectAltName = oid('551d11')
const names = sequence(
  tagged(0x82, Buffer.from('localhost')),
  tagged(0x87, ipAddress([127, 0, 0, 1])),
  tagged(0x87, ipAddress([...Array(15).fill(0), 1])),
)

/** Makes a certificate of this machine's own names that signs itself, with a new P-256 key. */
export function makeDevelopmentCertificate(
  clock: Pick<Clock, 'nowUnixMs'>,
  ids: Pick<Ids, 'bytes'>,
): CertificatePair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(commonName, utf8('localhost'))))
  const nowMs = clock.nowUnixMs()
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    // Positive, because its first bit is 0, and never empty.
    integer(Buffer.concat([Buffer.from([1]), ids.bytes(15)])),
    ecdsaWithSha256,
    name,
    sequence(time(nowMs - backdatedMs), time(nowMs + lifeMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(subjectAltName, tagged(0x04, names)))),
  )
  const signature = sign('sha256', body, privateKey)
  return {
    certificate: pem(sequence(body, ecdsaWithSha256, bits(signature))),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
