import { malformed } from './bytes.ts'

/**
 * What a client uploads: a header of 128 bytes and records of 48, all big-endian. It holds times,
 * kinds, directions and sizes, and nothing of what was said or by whom.
 */

export const lagHeaderBytes = 128
export const lagRecordBytes = 48
/** Most clock samples of a header. */
export const lagClockSamplesMax = 3
/** The content type of an upload. */
export const lagContentType = 'application/vnd.guildhall.lag-capture'

/** The bits of the header's flags; `metadata` is always set. */
export const lagFlags = { metadata: 1, truncated: 2, clock_known: 4 } as const

/** Where the clock of the server stood, so long after the start of the recording. */
export type LagClockSample = { elapsed_us: number; server_utc_us: number; uncertainty_us: number }

export type LagHeader = {
  flags: number
  record_count: number
  /** Records that passed the filters. */
  accepted: number
  /** Accepted ones that are no longer there. */
  overwritten: number
  skipped_by_filter: number
  skipped_as_malformed: number
  /** 32 lower-case hex digits. */
  capture_id: string
  generation: number
  clock_uncertainty_us: number
  /** 0 when the clock of the server is not known. */
  server_utc_us: number
  clock_samples: readonly LagClockSample[]
}

const magic = 0x434c4147
const version = 1

/** @throws RangeError for more clock samples than there is place for, or a bad capture id */
export function encodeLagHeader(header: LagHeader): Uint8Array {
  const bytes = new Uint8Array(lagHeaderBytes)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, magic)
  view.setUint16(4, version)
  view.setUint16(6, lagHeaderBytes)
  view.setUint16(8, lagRecordBytes)
  view.setUint16(10, header.flags)
  view.setUint32(12, header.record_count)
  view.setBigUint64(16, BigInt(header.accepted))
  view.setBigUint64(24, BigInt(header.overwritten))
  view.setBigUint64(32, BigInt(header.skipped_by_filter))
  view.setBigUint64(40, BigInt(header.skipped_as_malformed))
  if (!/^[0-9a-f]{32}$/.test(header.capture_id)) throw new RangeError('not a capture id')
  for (let at = 0; at < 16; at += 1) {
    bytes[48 + at] = Number.parseInt(header.capture_id.slice(2 * at, 2 * at + 2), 16)
  }
  view.setUint32(64, header.generation)
  view.setUint32(68, header.clock_uncertainty_us)
  view.setBigUint64(72, BigInt(header.server_utc_us))
  if (header.clock_samples.length > lagClockSamplesMax) throw new RangeError('too many samples')
  header.clock_samples.forEach(({ elapsed_us, server_utc_us, uncertainty_us }, index) => {
    view.setUint32(80 + 16 * index, elapsed_us)
    view.setBigUint64(84 + 16 * index, BigInt(server_utc_us))
    view.setUint32(92 + 16 * index, uncertainty_us)
  })
  return bytes
}

/**
 * @param bytes the first 128 of an artifact, or more
 * @throws WireError `malformed_body` for another magic, version or size, for unknown flags, and for
 * counts that do not add up
 */
export function decodeLagHeader(bytes: Uint8Array): LagHeader {
  if (bytes.length < lagHeaderBytes) throw malformed('too short')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const sizes = [view.getUint16(6), view.getUint16(8)]
  if (view.getUint32(0) !== magic || view.getUint16(4) !== version) throw malformed('no artifact')
  if (sizes[0] !== lagHeaderBytes || sizes[1] !== lagRecordBytes) throw malformed('other sizes')
  const flags = view.getUint16(10)
  const known = lagFlags.metadata | lagFlags.truncated | lagFlags.clock_known
  const isKnown = (flags & lagFlags.metadata) !== 0 && (flags & ~known) === 0
  if (!isKnown) throw malformed('unknown flags')
  const header: LagHeader = {
    flags,
    record_count: view.getUint32(12),
    accepted: safe(view, 16),
    overwritten: safe(view, 24),
    skipped_by_filter: safe(view, 32),
    skipped_as_malformed: safe(view, 40),
    capture_id: Array.from(bytes.subarray(48, 64), hexOfByte).join(''),
    generation: view.getUint32(64),
    clock_uncertainty_us: view.getUint32(68),
    server_utc_us: safe(view, 72),
    clock_samples: [80, 96, 112].map((at) => sampleAt(view, at)).filter(isUsed),
  }
  if (header.accepted !== header.record_count + header.overwritten) throw malformed('the counts')
  return header
}

function sampleAt(view: DataView, at: number): LagClockSample {
  return {
    elapsed_us: view.getUint32(at),
    server_utc_us: safe(view, at + 4),
    uncertainty_us: view.getUint32(at + 12),
  }
}

function isUsed({ elapsed_us, server_utc_us, uncertainty_us }: LagClockSample): boolean {
  return elapsed_us !== 0 || server_utc_us !== 0 || uncertainty_us !== 0
}

function safe(view: DataView, at: number): number {
  const value = view.getBigUint64(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed('a number beyond 2^53')
  return Number(value)
}

function hexOfByte(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
