import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BatchWriter, type Row, readBatch } from './batch.ts'

const row = fc.record({
  kind: fc.integer({ min: 1, max: 9 }),
  connection: fc.nat(),
  stream: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  value: fc.integer(),
  bytes: fc.uint8Array({ maxLength: 3000 }),
})

test('[R-TR-3] what crosses to the thread and back is what was given, whatever its size', () => {
  const writer = new BatchWriter()
  fc.assert(
    fc.property(fc.array(row, { maxLength: 200 }), (rows) => {
      for (const { kind, connection, ...rest } of rows) writer.add(kind, connection, rest)
      expect(writer.isEmpty).toBe(rows.length === 0)
      const read: Row[] = []
      readBatch(writer.take(), (each) => read.push({ ...each, bytes: each.bytes.slice() }))
      expect(read).toEqual(rows)
      expect(writer.isEmpty).toBe(true)
    }),
  )
})
