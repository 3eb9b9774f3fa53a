import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { Clock } from '../../clock.ts'
import { reasonOf } from '../../errors/reason.ts'
import type { Log } from '../../log/log.ts'

/** A certificate chain, leaf first, and its key, as PEM texts. */
export type CertificatePair = { certificate: string; privateKey: string }

export type CertificateFiles = { certificate_file: string; private_key_file: string }

/** Thrown for a pair that no listener could be opened with. */
export class CertificateUnfit extends Error {
  override readonly name = 'CertificateUnfit'
}

/**
 * Reads a pair and makes sure that it loads, belongs together and has not expired.
 *
 * @throws CertificateUnfit otherwise; its cause says why
 */
export async function readCertificate(
  files: CertificateFiles,
  clock: Clock,
): Promise<CertificatePair> {
  try {
    return await readPair(files, clock)
  } catch (cause) {
    throw new CertificateUnfit('the certificate cannot be used', { cause })
  }
}

async function readPair(files: CertificateFiles, clock: Clock): Promise<CertificatePair> {
  // One after the other: of two files that are missing the first one is named, and not either.
  const certificate = await readFile(files.certificate_file, 'utf8')
  const privateKey = await readFile(files.private_key_file, 'utf8')
  // It throws when the key is not the certificate's.
  createSecureContext({ cert: certificate, key: privateKey })
  if (notAfterUnixMs(certificate) <= clock.nowUnixMs()) {
    throw new Error(`${files.certificate_file} has expired`)
  }
  return { certificate, privateKey }
}

/**
 * Makes the task that looks for new content of the files, also behind links. A pair that cannot be
 * used, or is half written, keeps the old one in service.
 */
export function createCertificateReload(options: {
  files: CertificateFiles
  current: CertificatePair
  clock: Clock
  log: Log
  apply(pair: CertificatePair): void
}) {
  const { files, clock, log, apply } = options
  let { current } = options
  let warnedOnDay: number | undefined
  return async (): Promise<void> => {
    const pair = await readCertificate(files, clock).catch((error: unknown) => {
      log.warn('the new certificate cannot be used; the old one stays', { reason: reasonOf(error) })
      return current
    })
    if (pair.certificate !== current.certificate || pair.privateKey !== current.privateKey) {
      current = pair
      apply(pair)
      log.info('new connections get the new certificate')
    }
    const daysLeft = (notAfterUnixMs(current.certificate) - clock.nowUnixMs()) / dayMs
    const today = Math.floor(clock.nowUnixMs() / dayMs)
    if (daysLeft >= warnBelowDays || warnedOnDay === today) return
    warnedOnDay = today
    log.warn('the certificate ends soon', { days_left: Math.floor(daysLeft) })
  }
}

const dayMs = 86_400_000
const warnBelowDays = 14

/** When the first certificate of a chain ends. */
export function notAfterUnixMs(certificate: string): number {
  return new X509Certificate(certificate).validToDate.getTime()
}
