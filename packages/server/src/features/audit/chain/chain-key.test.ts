import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../../../database/migrations/schema-access.ts'
import { type TestDatabase, testBackends } from '../../../database/testing/backends.ts'
import { createFakeClock, type FakeClock } from '../../../kernel/clock.fake.ts'
import { createRecordedLog } from '../../../kernel/log/log.fake.ts'
import { chainOf } from './chain.fixture.ts'
import { sealerOn } from './sealer.fixture.ts'

const key = 'k'.repeat(32)
const changed = 'is changed or out of place'

describe.each(testBackends)('the key of the audit chain on $name', ({ open }) => {
  let test: TestDatabase
  let db: OpenedDatabase
  let clock: FakeClock

  beforeEach(async () => {
    clock = createFakeClock()
    test = await open()
    db = test.db
  })
  afterEach(() => test.dispose())

  const { write, verify, meddle, forge, sealed } = chainOf(() => ({ db, clock }))

  it('[O-AUD-5] without the key looks at order and gaps only, and says so', async () => {
    await sealed(2)
    await sealed(4, { key })
    expect(await verify()).toMatchObject({ rows: 6, unchecked: 4 })
    expect(await verify({ key })).toMatchObject({ rows: 6, unchecked: 0 })
    await meddle("UPDATE audit_entries SET actor = 'nobody' WHERE seq = 5")
    expect(await verify()).not.toHaveProperty('broken')
    expect((await verify({ key })).broken?.seq).toBe(5)
    expect((await verify({ key: 'x'.repeat(32) })).broken?.seq).toBe(3)
    await meddle('DELETE FROM audit_entries WHERE seq = 4')
    expect((await verify()).broken).toEqual({ seq: 4, problem: 'is missing' })
  })

  it('[O-AUD-5] takes no row without a key behind one with it', async () => {
    await sealed(3, { key })
    await forge(4)
    const missing = { seq: 4, problem: 'key missing' }
    expect((await verify({ key })).broken).toEqual(missing)
    expect((await verify()).broken).toEqual(missing)
    await meddle('UPDATE audit_entries SET keyed = 1 WHERE seq = 4')
    expect((await verify({ key })).broken).toEqual({ seq: 4, problem: changed })
  })

  it('[O-AUD-5] takes rows without a key between rows with it for changed', async () => {
    await sealed(2, { key })
    await forge(3)
    await forge(4)
    await sealed(2, { key })
    for (const options of [{ key }, {}]) {
      expect((await verify(options)).broken).toEqual({ seq: 3, problem: changed })
    }
  })

  it('[O-AUD-5] says of a key that is missing nothing that other breaks may hide', async () => {
    await sealed(2, { key })
    for (const seq of [3, 4, 5]) await forge(seq)
    expect((await verify({ key })).broken).toEqual({ seq: 3, problem: 'key missing' })
    await meddle("UPDATE audit_entries SET actor = 'nobody' WHERE seq = 4")
    expect((await verify({ key })).broken).toEqual({ seq: 3, problem: changed })
    await meddle('DELETE FROM audit_entries WHERE seq = 4')
    expect((await verify({ key })).broken).toEqual({ seq: 3, problem: changed })
  })

  it('[O-AUD-5] links nothing without the key where others had one, and is degraded', async () => {
    const log = createRecordedLog()
    const errors = () => log.lines.filter(({ level }) => level === 'error')
    await sealed(1, { log })
    await sealed(1, { key, log })
    expect(errors()).toEqual([])
    const forgetful = sealerOn(db, clock, { log })
    expect(forgetful.behind()).toBe(false)
    for (let time = 0; time < 2; time += 1) {
      await write(1)
      await forgetful.seal()
    }
    expect([forgetful.behind(), errors().length]).toEqual([true, 1])
    expect(await verify({ key })).toMatchObject({ rows: 2, unkeyed: 1 })
    await sealerOn(db, clock, { key }).seal()
    const whole = await verify({ key })
    expect(whole).toMatchObject({ rows: 4, unkeyed: 1 })
    expect(whole).not.toHaveProperty('broken')
  })

  it('[O-AUD-5] counts the rows that were linked without a key', async () => {
    await sealed(2)
    await sealed(3, { key })
    expect(await verify({ key })).toMatchObject({ rows: 5, unkeyed: 2 })
    expect(await verify()).toMatchObject({ rows: 5, unkeyed: 2 })
  })
})
