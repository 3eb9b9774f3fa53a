import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../database/migrations/schema-access.ts'
import { testBackends } from '../database/testing/backends.ts'
import { openTestApi } from '../testing/api.ts'
import { examine as examineStore } from '../testing/doctor.ts'

const indexes = [
  { name: 'plain', collection: 'saves', fields: ['level', 'hero'] },
  { name: 'of_slot', collection: 'saves', key: 'slot', fields: ['level'] },
  { name: 'asking', collection: 'saves', fields: ['level'] },
]

/** Where there is an entry of this field, of the index of this name. */
const entryOf = (index: string, field: string) =>
  `index_id = (SELECT id FROM storage_indexes WHERE name = '${index}') AND field = '${field}'`

const breaches: readonly { breaks: string; by: string; ids: readonly string[] }[] = [
  {
    breaks: 'a version that is not the hash of the value',
    by: "UPDATE storage_objects SET version = '0123456789abcdef' WHERE collection = 'others'",
    ids: ['others/k of '],
  },
  {
    breaks: 'a value that was changed, and what the indexes have of it',
    by: `UPDATE storage_objects SET value = '{"level":4}', bytes = 11 WHERE key = 'slot'`,
    ids: [
      'saves/slot of ana',
      'asking: saves/slot of ana',
      'of_slot: saves/slot of ana',
      'plain: saves/slot of ana',
    ],
  },
  {
    breaks: 'a wrong length',
    by: "UPDATE storage_objects SET bytes = bytes + 1 WHERE collection = 'others'",
    ids: ['others/k of '],
  },
  {
    breaks: 'a missing entry',
    by: `DELETE FROM storage_index_entries WHERE ${entryOf('plain', 'hero')}`,
    ids: ['plain: saves/slot of ana'],
  },
  {
    breaks: 'an object that is in no index',
    by: "DELETE FROM storage_index_entries WHERE user_id = 'ana'",
    ids: ['of_slot: saves/slot of ana', 'plain: saves/slot of ana', 'plain: saves/other of ana'],
  },
  {
    breaks: 'a wrong entry',
    by: `UPDATE storage_index_entries SET value = 'n7' WHERE ${entryOf('asking', 'level')}`,
    ids: ['asking: saves/slot of ana'],
  },
  {
    breaks: 'an entry too many',
    by: `INSERT INTO storage_index_entries (index_id, field, value, user_id, key)
      SELECT id, 'level', 'n3', 'ana', 'other' FROM storage_indexes WHERE name = 'plain'`,
    ids: ['plain: saves/other of ana'],
  },
  {
    breaks: 'an entry of an object that is not there',
    by: `UPDATE storage_index_entries SET user_id = 'bob' WHERE ${entryOf('asking', '')}
      OR ${entryOf('asking', 'level')}`,
    ids: ['asking: saves/slot of bob'],
  },
  {
    breaks: 'an entry of an object that is not covered',
    by: `INSERT INTO storage_index_entries (index_id, field, value, user_id, key)
      SELECT id, '', '', 'ana', 'other' FROM storage_indexes WHERE name = 'of_slot'`,
    ids: ['of_slot: saves/other of ana'],
  },
  {
    breaks: 'an entry of no index',
    by: `INSERT INTO storage_index_entries (index_id, field, value, user_id, key)
      VALUES (99, '', '', 'ana', 'other')`,
    ids: ['index 99'],
  },
  {
    breaks: 'an object that waits for no filter',
    by: `INSERT INTO storage_index_pending (index_id, user_id, key)
      SELECT id, 'ana', 'other' FROM storage_indexes WHERE name = 'plain'`,
    ids: ['plain: saves/other of ana'],
  },
  {
    breaks: 'a wrong count',
    by: "UPDATE storage_collections SET objects = 3 WHERE collection = 'saves'",
    ids: ['saves'],
  },
  {
    breaks: 'a collection that is not counted',
    by: "DELETE FROM storage_collections WHERE collection = 'others'",
    ids: ['others'],
  },
]

describe.each(testBackends)('the doctor of stored objects on $name', ({ open }) => {
  let db: OpenedDatabase
  beforeAll(async () => {
    const test = await open()
    db = test.db
    const api = await openTestApi({ db, config: { 'storage.indexes': JSON.stringify(indexes) } })
    const { runtime, indexes: jobs } = api.features.storage
    await jobs.keep({ signal: new AbortController().signal, progress() {} })
    await runtime.setFilter('asking', ({ key }) => key === 'slot')
    await runtime.writeAll([
      { owner: 'ana', collection: 'saves', key: 'slot', value: { level: 3, hero: '\u0000é' } },
      { owner: 'ana', collection: 'saves', key: 'other', value: { level: null, b: 2n ** 62n } },
      { owner: null, collection: 'others', key: 'k', value: {} },
    ])
    await runtime.setFilter('asking', undefined)
    await runtime.write({ owner: 'zoe', collection: 'saves', key: 'later', value: { level: true } })
    await runtime.remove({ owner: 'zoe', collection: 'saves', key: 'later' })
    await api.close()
    return () => test.dispose()
  })

  const examine = (meddling?: readonly string[]) => examineStore(db, meddling && { meddling })

  it('[O-DOC-1] finds nothing where nothing is wrong, and looks at everything', async () => {
    const diagnoses = await examine()
    expect(diagnoses.filter(({ ok }) => !ok)).toEqual([])
    const storage = diagnoses.find(({ name }) => name === 'storage')
    // Three objects, two collections, and the entries: 3 and 1, 2, 2.
    expect(storage).toMatchObject({ rows: 3 + 2 + 3 + 1 + 2 + 2 })
  })

  it.each(breaches)(
    '[O-DOC-1] the check storage finds $breaks, and no other does',
    async (breach) => {
      const failed = (await examine([breach.by])).filter(({ ok }) => !ok)
      expect(failed.map(({ name }) => name)).toEqual(['storage'])
      expect(failed[0]?.violations).toBe(breach.ids.length)
      expect(failed[0]?.examples.map(({ id }) => id).sort()).toEqual(breach.ids.toSorted())
    },
  )

  it('[O-DOC-1] reads large values in parts, and every one of them', async () => {
    const large = { a: 'x'.repeat(500_000) }
    const api = await openTestApi({ db })
    const { runtime } = api.features.storage
    const keys = Array.from({ length: 20 }, (_, at) => `k${at + 10}`)
    await Promise.all(
      keys.map((key) => runtime.write({ owner: null, collection: 'large', key, value: large })),
    )
    await api.close()
    const meddling = [
      "UPDATE storage_objects SET version = 'x' WHERE key IN ('k10', 'k18', 'k19', 'k29')",
    ]
    const failed = (await examine(meddling)).filter(({ ok }) => !ok)
    expect(failed.flatMap(({ examples }) => examples.map(({ id }) => id))).toEqual(
      ['k10', 'k18', 'k19', 'k29'].map((key) => `large/${key} of `),
    )
  })
})
