import {
  encodeLagHeader,
  type LagHeader,
  lagHeaderBytes,
  lagRecordBytes,
} from '@guildhall/contract'

export type TestRecord = {
  elapsed_us: number
  kind?: number
  directionByte?: number
  deliveryByte?: number
  bytes?: number
  metadata?: number
}

type TestArtifact = { records: readonly TestRecord[]; header?: Partial<LagHeader> }

/** An artifact as a client would send it, before it is compressed. */
export function artifact({ records, header = {} }: TestArtifact): Uint8Array {
  const bytes = new Uint8Array(lagHeaderBytes + records.length * lagRecordBytes)
  const view = new DataView(bytes.buffer)
  const { overwritten = 0 } = header
  const encoded = encodeLagHeader({
    flags: 5,
    record_count: records.length,
    accepted: records.length + overwritten,
    overwritten,
    skipped_by_filter: 0,
    skipped_as_malformed: 0,
    capture_id: '00112233445566778899aabbccddeeff',
    generation: 1,
    clock_uncertainty_us: 1500,
    server_utc_us: 1_700_000_000_000_000,
    clock_samples: [{ elapsed_us: 0, server_utc_us: 1_700_000_000_000_000, uncertainty_us: 1500 }],
    ...header,
  })
  bytes.set(encoded)
  records.forEach((record, index) => {
    const { elapsed_us, kind = 100, directionByte = 0, deliveryByte = 2 } = record
    const at = lagHeaderBytes + index * lagRecordBytes
    view.setUint32(at, elapsed_us)
    view.setUint16(at + 4, kind)
    view.setUint8(at + 6, directionByte)
    view.setUint8(at + 7, deliveryByte)
    view.setUint32(at + 8, record.bytes ?? 0)
    view.setUint16(at + 30, record.metadata ?? 0)
  })
  return bytes
}
