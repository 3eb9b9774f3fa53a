import { describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openTestApi } from '../../testing/api.ts'
import { openOperator } from '../../testing/operator.ts'
import { rowsOf } from '../../testing/tables.ts'

describe.each(testBackends.filter(({ name }) => name !== 'in-memory'))(
  'the audit row of a change on $name',
  ({ open }) => {
    it('[O-AUD-1] is there exactly when the change is', async () => {
      const test = await open()
      const { db } = test
      const api = await openTestApi({ db })
      const operator = await openOperator(api)
      const group = { name: 'red', creator_user_id: 'ana' }
      const rename = (from: string, to: string) =>
        db.schema.transaction(async (tx) => tx.ddl(`ALTER TABLE ${from} RENAME TO ${to}`))
      const recorded = async () =>
        (await rowsOf(db, 'audit_unsealed', "action = 'groups.create'")).length

      // No row can be written, so there is no change.
      await rename('audit_unsealed', 'elsewhere')
      expect((await operator.send('POST', '/groups', group)).status).toBe(500)
      await rename('elsewhere', 'audit_unsealed')
      expect([(await rowsOf(db, 'groups')).length, await recorded()]).toEqual([0, 0])

      // The change cannot be made, so there is no row.
      await rename('group_members', 'elsewhere')
      expect((await operator.send('POST', '/groups', group)).status).toBe(500)
      await rename('elsewhere', 'group_members')
      expect([(await rowsOf(db, 'groups')).length, await recorded()]).toEqual([0, 0])

      expect((await operator.send('POST', '/groups', group)).status).toBe(201)
      expect([(await rowsOf(db, 'groups')).length, await recorded()]).toEqual([1, 1])
      await api.close()
      await test.dispose()
    })
  },
)
