import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import { openFileDatabase } from '../sqlite/sqlite-database.ts'
import { type OpenOptions, type TestDatabase, testBackends } from '../testing/backends.ts'
import { silentLog } from '../testing/silent-log.ts'
import { migrations as released } from './index.ts'
import { migrate, pendingMigrations, SchemaNotUsable } from './migrate.ts'
import type { Migration } from './migration.ts'

const clock = createSystemClock()
const common = { version: '1.2.0', clock, log: silentLog, holder: 'tests' }
const opened: TestDatabase[] = []

afterEach(async () => {
  for (const test of opened.splice(0)) await test.dispose()
})

it('the released migrations count up from 1 without gaps', () => {
  expect(released.map(({ number }) => number)).toEqual(released.map((_, at) => at + 1))
})

describe.each(testBackends)('migrations on $name', ({ name, open }) => {
  async function openEmpty(options: OpenOptions = {}) {
    const test = await open({ ...options, migrated: false })
    opened.push(test)
    return test.db
  }

  it('[O-MIG-1] are applied in order, recorded, and not applied again', async () => {
    const db = await openEmpty()
    const migrations = [create('a'), create('b')]
    const before = await pendingMigrations(db, { ...common, migrations })
    expect(before).toEqual({ applied: 0, pending: migrations })
    expect(await db.schema.hasTable('schema_migrations')).toBe(false)
    expect(await migrate(db, { ...common, migrations })).toEqual({ applied: 2, pending: [] })
    expect(await db.schema.hasTable('table_b')).toBe(true)
    expect(await migrate(db, { ...common, migrations })).toEqual({ applied: 2, pending: [] })
  })

  it('[O-MIG-1] whose recorded checksum differs refuse the store', async () => {
    const db = await openEmpty()
    await migrate(db, { ...common, migrations: [create('a')] })
    const changed = [{ ...create('a'), steps: [...create('a').steps, 'SELECT 1'] }]
    await expect(migrate(db, { ...common, migrations: changed })).rejects.toThrow(SchemaNotUsable)
  })

  it('[O-MIG-4] that fail leave nothing of their own and all that came before', async () => {
    const db = await openEmpty()
    const broken = { ...create('b'), steps: [...create('b').steps, 'CREATE TABLE )'] }
    await expect(migrate(db, { ...common, migrations: [create('a'), broken] })).rejects.toThrow(
      'syntax',
    )
    expect(await db.schema.hasTable('table_a')).toBe(true)
    expect(await db.schema.hasTable('table_b')).toBe(false)
    const repaired = [create('a'), create('b')]
    expect(await migrate(db, { ...common, migrations: repaired })).toMatchObject({ applied: 2 })
  })

  it('[O-MIG-4] say why they failed, also when their lease cannot be released', async () => {
    const db = await openEmpty()
    const run: typeof db.run = async (statement, params) => {
      if (statement.name === 'schema_lease.release') throw new Error('the connection is gone')
      return db.run(statement, params)
    }
    const broken = { ...create('a'), steps: ['CREATE TABLE )'] }
    const migrating = migrate({ ...db, run }, { ...common, migrations: [broken] })
    await expect(migrating).rejects.toThrow('syntax')
  })

  it('[O-MIG-3] check the fencing token in every step', async () => {
    const db = await openEmpty()
    const usurped = 'UPDATE schema_lease SET token = token + 1'
    const first = { ...create('a'), steps: [...create('a').steps, usurped] }
    await expect(migrate(db, { ...common, migrations: [first, create('b')] })).rejects.toThrow(
      'lost the lease',
    )
    expect(await db.schema.hasTable('table_b')).toBe(false)
  })

  it('[O-MIG-5] newer than the binary are accepted exactly as far back as they say', async () => {
    const db = await openEmpty()
    const newer = { ...create('b'), oldestBinary: '1.2.0' }
    await migrate(db, { ...common, version: '1.3.0', migrations: [create('a'), newer] })
    const migrations = [create('a')]
    for (const version of ['1.2.0', '1.2.1', '1.10.0', '2.0.0-beta']) {
      const found = await pendingMigrations(db, { version, migrations })
      expect(found).toEqual({ applied: 2, pending: [] })
    }
    for (const version of ['1.1.9', '0.9.0']) {
      await expect(migrate(db, { ...common, version, migrations })).rejects.toThrow(SchemaNotUsable)
    }
  })

  if (name !== 'in-memory')
    it('survive a restart', async () => {
      const db = await openEmpty()
      await migrate(db, { ...common, migrations: [create('a')] })
      const again = await opened[0]?.reopen()
      expect(
        again && (await pendingMigrations(again, { ...common, migrations: [create('a')] })),
      ).toEqual({ applied: 1, pending: [] })
    })

  if (name === 'postgres')
    it('[O-MIG-3] run once when several nodes start together', async () => {
      const db = await openEmpty()
      const migrations = [create('a'), create('b'), create('c')]
      const nodes = ['x', 'y', 'z', 'w'].map((holder) =>
        migrate(db, { ...common, holder, migrations }),
      )
      for (const node of nodes) expect(await node).toEqual({ applied: 3, pending: [] })
    })

  if (name === 'sqlite')
    it('[O-MIG-4] go on at once after a kill in their midst', async () => {
      const db = await openEmpty()
      await migrate(db, { ...common, migrations: [create('a')] })
      const held = 'UPDATE schema_lease SET expires_at_unix_ms = 9000000000000'
      await db.schema.transaction((tx) => tx.ddl(held))
      const again = await opened[0]?.reopen()
      const migrations = [create('a'), create('b')]
      expect(again && (await migrate(again, { ...common, holder: 'next', migrations }))).toEqual({
        applied: 2,
        pending: [],
      })
    })

  if (name === 'postgres')
    it('[O-MIG-3] are waited for, however long one of their steps takes', async () => {
      const db = await openEmpty({ config: { statement_timeout_ms: 200 } })
      const slow = { ...create('a'), steps: [...create('a').steps, 'SELECT pg_sleep(1)'] }
      const nodes = ['x', 'y'].map((holder) =>
        migrate(db, { ...common, holder, migrations: [slow] }),
      )
      for (const node of nodes) expect(await node).toEqual({ applied: 1, pending: [] })
    })

  if (name === 'sqlite')
    it('[O-MIG-6] keep two copies from before', async () => {
      const db = await openEmpty()
      const steps = ['a', 'b', 'c', 'd']
      for (let count = 1; count <= steps.length; count += 1) {
        await migrate(db, { ...common, migrations: steps.slice(0, count).map(create) })
      }
      const path = (opened[0]?.url ?? '').slice('sqlite:'.length)
      const copies = readdirSync(dirname(path)).filter((file) => file.includes('.before-'))
      expect(copies.sort()).toEqual([2, 3].map((version) => `${basename(path)}.before-${version}`))
      expect(existsSync(`${path}.before-3`)).toBe(true)
      const copy = await openFileDatabase(`${path}.before-3`, { clock, log: silentLog })
      expect(await copy.schema.hasTable('table_c')).toBe(true)
      expect(await copy.schema.hasTable('table_d')).toBe(false)
      await copy.close()
    })
})

function create(letter: string): Migration {
  return {
    number: letter.charCodeAt(0) - 'a'.charCodeAt(0) + 1,
    name: letter,
    oldestBinary: '0.1.0',
    steps: [`CREATE TABLE table_${letter} (id {{text}} NOT NULL PRIMARY KEY) {{strict}}`],
  }
}
