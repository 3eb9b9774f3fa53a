import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import type { Database } from '../../database/database.ts'
import { type TestBackend, testBackends } from '../../database/testing/backends.ts'
import {
  type CaptureQuery,
  captureListStore,
} from '../../features/lag/reports/captures-list.store.ts'
import { openExplainer, type Plan, recordSent } from './plans.fixture.ts'

/** A page of captures is found in an index, whatever it is filtered by. */

type Filters = Pick<CaptureQuery, 'state' | 'label' | 'match_id'>

/** Each filter alone, and where one of several leads, with what finds the captures. */
const found: readonly [Filters, 'key' | 'live' | 'label' | 'match'][] = [
  [{}, 'key'],
  [{ state: 'over' }, 'key'],
  [{ state: 'live' }, 'live'],
  [{ state: 'live', label: 'arena', match_id: 'mt1-1' }, 'live'],
  [{ label: 'arena' }, 'label'],
  [{ state: 'over', label: 'arena' }, 'label'],
  [{ match_id: 'mt1-1' }, 'match'],
  [{ state: 'over', label: 'arena', match_id: 'mt1-1' }, 'match'],
]

function openOf(name: string) {
  const backend = testBackends.find((each: TestBackend) => each.name === name)
  if (backend === undefined) throw new Error(`there is no ${name}`)
  return backend.open()
}

const list = (db: Database, filters: Filters) =>
  captureListStore.list(db, { ...filters, after: '\u{10ffff}', limit: 51, own_node_id: 'n' })

it('[L-CON-3] on SQLite', async () => {
  const test = await openOf('sqlite')
  let last = ''
  const { prepare } = DatabaseSync.prototype
  const spy = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    text,
  ) {
    if (text.includes('FROM lag_captures c')) last = text
    return prepare.call(this, text)
  })
  const explainer = new DatabaseSync(test.url.replace(/^sqlite:/, ''))
  try {
    for (const [filters, by] of found) {
      await list(test.db, filters)
      const steps = explainer.prepare(`EXPLAIN QUERY PLAN ${last}`).all()
      const details = steps.map(({ detail }) => String(detail))
      const index = by === 'key' ? 'sqlite_autoindex_lag_captures_1' : `lag_captures_${by}`
      expect(details, last).toContainEqual(
        expect.stringMatching(new RegExp(`^SEARCH c USING INDEX ${index} \\(`)),
      )
      expect(details.join()).not.toMatch(/TEMP B-TREE/)
    }
  } finally {
    spy.mockRestore()
    explainer.close()
    await test.dispose()
  }
})

it('[L-CON-3] on PostgreSQL', async () => {
  const test = await openOf('postgres')
  const explainer = await openExplainer(test.url)
  const recording = recordSent()
  try {
    await explainer.run(captures)
    await explainer.run('ANALYZE lag_captures')
    for (const [filters, by] of found) {
      recording.sent.clear()
      await list(test.db, filters)
      const [sent] = recording.sent.values()
      if (sent === undefined) throw new Error('nothing was sent')
      const index = by === 'key' ? 'lag_captures_pkey' : `lag_captures_${by}`
      for (const plan of Object.values(await explainer.plans(sent))) {
        const steps = stepsOf(plan)
        const names = steps.map((step) => step['Index Name'] ?? '')
        expect(
          names.filter((name) => name.startsWith('lag_captures')),
          sent.text,
        ).toEqual([index])
        // What few have in common may be sorted; a page of many comes in its order.
        const isAlone = Object.keys(filters).length < 2
        if (isAlone) expect(steps[1]?.['Node Type'], sent.text).not.toBe('Sort')
      }
    }
  } finally {
    recording.stop()
    await explainer.close()
    await test.dispose()
  }
})

function stepsOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(stepsOf)]
}

/** Ten thousand of a few labels and matches, of which a handful is live. */
const captures = `INSERT INTO lag_captures (capture_id, generation, state, created_at_unix_ms,
    deadline_unix_ms, label, node_id, boot_id, match_id, filters_json, offered, recording, failed,
    flushing, uploaded, missed, gone)
  SELECT lpad(to_hex(i), 32, '0'), 1, CASE WHEN i % 2000 = 0 THEN 'recording' ELSE 'sealed' END, 1,
    2, 'label ' || i % 50, 'n', 'b', 'mt1-' || i % 40, '[]', 0, 0, 0, 0, 0, 0, 0
  FROM generate_series(1, 10000) AS i`
