import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../database/database.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { type AuditQuery, type AuditRow, auditStore } from './audit.store.ts'
import { sealerOn } from './chain/sealer.fixture.ts'

const actions = ['groups', 'groups.create', 'groups.update', 'groupsy', 'storage.write', 'A', 'é']
const actors = ['ada', 'bo', 'ad']
const matches = ['mt1-a', 'mt1-b', null]

/** Rows whose ids are in no order of their actions. */
const rows: readonly AuditRow[] = Array.from({ length: 210 }, (_, at) => ({
  id: `au1-${String((at * 97) % 211).padStart(4, '0')}`,
  node_id: 'dev-1',
  time_unix_ms: at,
  actor_type: 'human',
  actor: actors[(at * 5) % 3] ?? '',
  role: 'admin',
  credential_id: null,
  key_name: null,
  key_scopes: null,
  action: actions[(at * 3) % 7] ?? '',
  target: '',
  details: '',
  match_id: matches[(at * 11) % 3] ?? null,
}))

/** Without the first, these are in the chain; the others still wait for the sealer. */
const sealedRows = 140

/** The same filters without a database. */
function expected({ actor, action, match_id, after, limit }: AuditQuery): string[] {
  const matching = rows.filter(
    (row) =>
      (actor === undefined || row.actor === actor) &&
      (action === undefined || row.action.startsWith(action)) &&
      (match_id === undefined || row.match_id === match_id) &&
      (after === undefined || row.id < after),
  )
  const ids = matching.map(({ id }) => id).sort()
  return ids.reverse().slice(0, limit)
}

const query = fc.record(
  {
    actor: fc.constantFrom('ada', 'ad', 'nobody'),
    action: fc.constantFrom('', 'g', 'groups', 'groups.', 'groups.update', 's', 'é', 'z', 'B'),
    match_id: fc.constantFrom('mt1-a', 'mt1-b', 'mt1-c'),
    after: fc.constantFrom('au1-', 'au1-0007', 'au1-0100', 'au1-0210', 'au1-x'),
    limit: fc.constantFrom(1, 2, 7, 50, 500),
  },
  { requiredKeys: ['limit'] },
)

describe.each(testBackends)('filters of the trail on $name', (backend) => {
  let db: Database
  beforeAll(async () => {
    const test = await backend.open()
    db = test.db
    await auditStore.insert(db, rows.slice(1, sealedRows))
    await sealerOn(db, createFakeClock()).seal()
    for (const row of rows.slice(0, 1)) await auditStore.insert(db, [row])
    await auditStore.insert(db, rows.slice(sealedRows))
    return () => test.dispose()
  })

  it('[H-AUD-7] [H-AUD-8] find the newest entries behind the cursor, however they combine', async () => {
    await fc.assert(
      fc.asyncProperty(query, async (query) => {
        const found = await auditStore.list(db, query)
        expect(found.map(({ id }) => id)).toEqual(expected(query))
      }),
      { numRuns: 150 },
    )
  })

  it('[O-TX-4] a row that is written again is shown once, alone or with others', async () => {
    await auditStore.insert(db, rows.slice(0, 1))
    await auditStore.insert(db, rows.slice(0, 5))
    const listed = await auditStore.list(db, { limit: 500 })
    expect(listed.map(({ id }) => id)).toEqual(expected({ limit: 500 }))
    for (const limit of [1, 2, 3, 150]) {
      expect(await auditStore.list(db, { limit })).toEqual(listed.slice(0, limit))
    }
  })
})
