import { errorJournalApi } from '@guildhall/contract'
import { expect, it, onTestFinished } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { openErrorJournal } from '../../kernel/errors/error-journal.ts'
import { createRecordedLog } from '../../kernel/log/log.fake.ts'
import { nobodyPlays, openTestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'

async function setUp() {
  const [inMemory] = testBackends
  if (inMemory === undefined) throw new Error('there is no backend')
  const test = await inMemory.open()
  const clock = createFakeClock()
  const bounds = { max_bytes: 1_000_000, max_entries: 1000 }
  const log = createRecordedLog()
  const journal = await openErrorJournal({ clock, log, bounds, directory: undefined })
  const api = await openTestApi({ db: test.db, clock, play: { ...nobodyPlays, journal } })
  onTestFinished(async () => {
    await api.close()
    await test.dispose()
  })
  const operator = await openOperator(api)
  return { operator, clock, journal }
}

it('[H-ERR-1] pages the incidents of this node, the one seen last first', async () => {
  const { operator, clock, journal } = await setUp()
  const list = async (query = '') =>
    errorJournalApi.list.ok.parse((await operator.send('GET', `/errors${query}`)).body)
  expect(await list()).toEqual({ entries: [], total: 0, next_offset: null })
  const firstMs = clock.nowUnixMs()
  const places = ['one', 'two', 'one', 'three']
  for (const place of places) {
    journal.record({ category: 'request', component: 'http', place })
    await clock.advance(5000)
  }
  const { entries, total, next_offset } = await list('?limit=2')
  expect([total, next_offset]).toEqual([3, 2])
  expect(entries).toMatchObject([
    { count: 1, first_seen_ms: firstMs + 15_000, kind: 'error', component: 'http' },
    { count: 2, first_seen_ms: firstMs, last_seen_ms: firstMs + 10_000 },
  ])
  const rest = await list('?limit=2&offset=2')
  expect(rest).toMatchObject({ entries: [{ count: 1 }], total: 3, next_offset: null })
})

it('[H-ERR-1] [H-GEN-26] refuses offsets and limits that are no numbers', async () => {
  const { operator } = await setUp()
  for (const query of ['offset=-1', 'offset=x', 'limit=', 'x=1']) {
    expect((await operator.send('GET', `/errors?${query}`)).status, query).toBe(400)
  }
})
