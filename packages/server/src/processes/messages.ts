import type { Binds } from '../config/processes.ts'
import type { CertificatePair } from '../kernel/http/connection/certificates.ts'

/** What a process begins with. */
export type Begin = {
  /** Counts from 1. */
  number: number
  binds: Binds
  /** For QUIC without a certificate of files. */
  certificate: CertificatePair | undefined
}

/** What the parent says to a process. */
export type ToProcess =
  | { begin: Begin }
  | { signal: NodeJS.Signals }
  | { certificate: CertificatePair }

/** What a process says to the parent. */
export type FromProcess = { ready: ReadyFacts }

/** What is said of a node that serves. */
export type ReadyFacts = {
  url: string
  transportAddresses: Readonly<Record<string, string>>
  backend: string
  node_id: string
  boot_id: string
  entrypoint: string | null
}
