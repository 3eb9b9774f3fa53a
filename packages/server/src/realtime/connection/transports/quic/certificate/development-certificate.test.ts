import { createHash, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { expect, test } from 'vitest'
import { createFakeClock } from '../../../../../kernel/clock.fake.ts'
import { createIds } from '../../../../../kernel/ids.ts'
import { makeDevelopmentCertificate } from './development-certificate.ts'

const clock = createFakeClock()
const ids = createIds({ clock, nodeId: 'node-1', bootId: 'bt1-0' })

test('[R-TLS-2] the development certificate is for this machine and lives 13 days', () => {
  const { certificate, privateKey } = makeDevelopmentCertificate(clock, ids)
  createSecureContext({ cert: certificate, key: privateKey })
  const read = new X509Certificate(certificate)
  expect(read.subjectAltName).toBe(
    'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  )
  expect(read.checkHost('localhost')).toBe('localhost')
  expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(read.verify(read.publicKey)).toBe(true)
  expect(read.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  const second = (ms: number) => Math.floor(ms / 1000)
  expect(second(read.validFromDate.getTime())).toBe(second(clock.nowUnixMs() - 3_600_000))
  expect(second(read.validToDate.getTime())).toBe(second(clock.nowUnixMs() + 13 * 86_400_000))
})

test('[R-TLS-2] each has a key and a number of its own', () => {
  const all = [1, 2, 3].map(() => makeDevelopmentCertificate(clock, ids).certificate)
  const hash = (text: string) => createHash('sha256').update(text).digest('hex')
  expect(new Set(all.map(hash)).size).toBe(3)
  expect(new Set(all.map((text) => new X509Certificate(text).serialNumber)).size).toBe(3)
})
