import { decodeLagHeader, lagFlags, lagHeaderBytes, lagRecordBytes } from '@guildhall/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Ring } from './ring.ts'

const facts = {
  flags: lagFlags.metadata | lagFlags.clock_known,
  capture_id: '00112233445566778899aabbccddeeff',
  generation: 1,
  clock_uncertainty_us: 1500,
  server_utc_us: 1_700_000_000_000_000,
  clock_samples: [{ elapsed_us: 0, server_utc_us: 1_700_000_000_000_000, uncertainty_us: 1500 }],
}

function elapsedOf(artifact: Uint8Array): number[] {
  const view = new DataView(artifact.buffer)
  const count = (artifact.length - lagHeaderBytes) / lagRecordBytes
  return Array.from({ length: count }, (_, at) =>
    view.getUint32(lagHeaderBytes + at * lagRecordBytes),
  )
}

it('[L-EX-1] encodes the worked artifact', () => {
  const ring = new Ring(4_194_304)
  ring.record(50_000, 100, false, false, 3)
  ring.record(100_400, 100, false, false, 3)
  const expected =
    '434c414700010080003000050000000200000000000000020000000000000000' +
    '0000000000000000000000000000000000112233445566778899aabbccddeeff' +
    '00000001000005dc00060a24181e40000000000000060a24181e4000000005dc' +
    '00'.repeat(32) +
    `0000c35000640002000000${'03'}${'00'.repeat(36)}` +
    `0001883000640002000000${'03'}${'00'.repeat(36)}`
  expect(Buffer.from(ring.encode(facts)).toString('hex')).toBe(expected)
})

it('[L-LIFE-3] keeps the newest records in their order, within its bytes', () => {
  const amount = fc.integer({ min: 0, max: 60 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), amount, amount, (places, records, newest) => {
      const ring = new Ring(places * lagRecordBytes + 47)
      for (let at = 1; at <= records; at += 1) ring.record(at, 7, true, true, at)
      const artifact = ring.encode(facts, newest)
      const count = Math.min(places, records, newest)
      expect(elapsedOf(artifact)).toEqual(
        Array.from({ length: count }, (_, at) => records - count + 1 + at),
      )
      expect(decodeLagHeader(artifact)).toMatchObject({
        record_count: count,
        accepted: records,
        overwritten: records - count,
      })
    }),
  )
})

it('[L-ART-1] a record has direction, delivery, kind and size; others are only counted', () => {
  const ring = new Ring(65_536)
  ring.record(9, 65_535, true, true, 70_000)
  ring.skip()
  ring.skip()
  const artifact = ring.encode(facts)
  const record = Buffer.from(artifact.subarray(lagHeaderBytes))
  expect(record.toString('hex')).toBe(`00000009ffff010400011170${'00'.repeat(36)}`)
  expect(decodeLagHeader(artifact)).toMatchObject({ skipped_by_filter: 2, accepted: 1 })
})
