import {
  encodeLagHeader,
  type LagHeader,
  lagHeaderBytes,
  lagRecordBytes,
} from '@guildhall/contract/wire'

/** What a header says beside what the ring knows itself. */
export type RingFacts = Pick<
  LagHeader,
  'flags' | 'capture_id' | 'generation' | 'clock_uncertainty_us' | 'server_utc_us' | 'clock_samples'
>

/** The newest records of a recording, in memory that is taken once; the oldest give way. */
export class Ring {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #capacity: number
  #accepted = 0
  #skipped = 0

  /** @param bytesMax bound of the records; at least one of them fits */
  constructor(bytesMax: number) {
    this.#capacity = Math.max(1, Math.floor(bytesMax / lagRecordBytes))
    this.#bytes = new Uint8Array(this.#capacity * lagRecordBytes)
    this.#view = new DataView(this.#bytes.buffer)
  }

  get accepted(): number {
    return this.#accepted
  }

  /** Records that are there. */
  get count(): number {
    return Math.min(this.#accepted, this.#capacity)
  }

  get overwritten(): number {
    return this.#accepted - this.count
  }

  /** An envelope that no filter asks for. */
  skip(): void {
    this.#skipped += 1
  }

  record(
    elapsedUs: number,
    kind: number,
    outbound: boolean,
    datagram: boolean,
    bodyBytes: number,
  ): void {
    const at = (this.#accepted % this.#capacity) * lagRecordBytes
    this.#view.setUint32(at, elapsedUs)
    this.#view.setUint16(at + 4, kind)
    this.#view.setUint8(at + 6, outbound ? 1 : 0)
    this.#view.setUint8(at + 7, datagram ? 4 : 2)
    this.#view.setUint32(at + 8, bodyBytes)
    this.#accepted += 1
  }

  /** The artifact of the newest records, the oldest of them first. */
  encode(facts: RingFacts, newest = this.count): Uint8Array<ArrayBuffer> {
    const record_count = Math.min(newest, this.count)
    const artifact = new Uint8Array(lagHeaderBytes + record_count * lagRecordBytes)
    const header = encodeLagHeader({
      ...facts,
      record_count,
      accepted: this.#accepted,
      overwritten: this.#accepted - record_count,
      skipped_by_filter: this.#skipped,
      skipped_as_malformed: 0,
    })
    artifact.set(header)
    const first = (this.#accepted - record_count) % this.#capacity
    const tail = Math.min(record_count, this.#capacity - first)
    const from = first * lagRecordBytes
    artifact.set(this.#bytes.subarray(from, from + tail * lagRecordBytes), lagHeaderBytes)
    const rest = this.#bytes.subarray(0, (record_count - tail) * lagRecordBytes)
    artifact.set(rest, lagHeaderBytes + tail * lagRecordBytes)
    return artifact
  }
}
