import { expect, it } from 'vitest'
import { type Entries, momentsOf } from './moments.ts'

it('lines of one millisecond stand in the order in which they were written', () => {
  const line = (log_id: string, created_at_unix_ms: number) => {
    const place = { match_id: null, node_id: 'n', tag: '', has_payload: false }
    return { ...place, log_id, created_at_unix_ms, level: 'info' as const, message: log_id }
  }
  const record = { opened_at_unix_ms: 5, closed_at_unix_ms: 9 } as Entries['record']
  const logs = [line('fourth', 9), line('third', 7), line('second', 7), line('first', 5)]
  const entries = { record, logs, telemetry_slices: [] } as unknown as Entries
  const keys = momentsOf(entries).map(({ key }) => key)
  expect(keys).toEqual(['open', 'first', 'second', 'third', 'fourth', 'close'])
})
