import type { Clock } from '../kernel/clock.ts'
import {
  type CertificatePair,
  createCertificateReload,
  readCertificate,
} from '../kernel/http/connection/certificates.ts'
import type { Log } from '../kernel/log/log.ts'

/** A certificate that is read from files and follows them. */
export type Certificate = {
  /** The pair in service. */
  current(): CertificatePair
  /** Looks at once whether the files have new content. */
  reload(): Promise<void>
  /** Calls `apply` with each new pair. */
  onChange(apply: (pair: CertificatePair) => void): void
}

/** A section of the configuration that names the files of a certificate, or does not. */
type Tls = { certificate_file: string | undefined; private_key_file: string | undefined }

/**
 * Reads the certificate that a section names, if it names one.
 *
 * @throws CertificateUnfit when the pair cannot be used
 */
export async function openCertificate(
  { certificate_file, private_key_file }: Tls,
  { clock, log }: { clock: Clock; log: Log },
): Promise<Certificate | undefined> {
  if (certificate_file === undefined || private_key_file === undefined) return undefined
  const files = { certificate_file, private_key_file }
  let current = await readCertificate(files, clock)
  const listeners: ((pair: CertificatePair) => void)[] = []
  const apply = (pair: CertificatePair) => {
    current = pair
    for (const listener of listeners) listener(pair)
  }
  return {
    current: () => current,
    reload: createCertificateReload({ files, current, clock, log, apply }),
    onChange: (listener) => void listeners.push(listener),
  }
}

export async function reloadAll(certificates: readonly Pick<Certificate, 'reload'>[]) {
  await Promise.all(certificates.map((certificate) => certificate.reload()))
}
