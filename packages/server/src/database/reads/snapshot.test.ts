import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../statement.ts'
import { type TestDatabase, testBackends } from '../testing/backends.ts'

const insert = statement({
  name: 'snapshot-test.insert',
  text: 'INSERT INTO deployment_secrets (name, secret) VALUES (:name, :secret)',
  params: { name: 'text', secret: 'bytes' },
})
const names = statement({
  name: 'snapshot-test.names',
  text: 'SELECT name FROM deployment_secrets ORDER BY name',
  row: { name: 'text' },
})
const secret = new Uint8Array([1])

describe.each(testBackends)('a snapshot on $name', ({ name: backend, open }) => {
  let test: TestDatabase
  beforeEach(async () => {
    test = await open()
    await test.db.run(insert, { name: 'a', secret })
  })
  afterEach(() => test.dispose())

  /** As somebody else would: on SQLite from outside, because a body waits for nothing else. */
  async function writeMeanwhile(): Promise<void> {
    if (backend === 'postgres') return void (await test.db.run(insert, { name: 'b', secret }))
    const other = new DatabaseSync(test.url.slice('sqlite:'.length))
    other.exec("INSERT INTO deployment_secrets (name, secret) VALUES ('b', x'01')")
    other.close()
  }

  it.skipIf(backend === 'in-memory')(
    '[O-DOC-1] shows one state, while others write and are not kept waiting',
    async () => {
      const seen = await test.db.snapshot(async (state) => {
        const before = await state.all(names, {})
        await writeMeanwhile()
        return [before, await state.all(names, {})]
      })
      expect(seen).toEqual([[{ name: 'a' }], [{ name: 'a' }]])
      expect(await test.db.all(names, {})).toEqual([{ name: 'a' }, { name: 'b' }])
    },
  )

  it.skipIf(backend === 'in-memory')('[O-DOC-1] changes nothing', async () => {
    const change = test.db.snapshot((state) => state.run(insert, { name: 'c', secret }))
    await expect(change).rejects.toThrow()
    expect(await test.db.all(names, {})).toEqual([{ name: 'a' }])
  })

  it('gives back what its body answers, and passes on what it throws', async () => {
    expect(await test.db.snapshot((state) => state.all(names, {}))).toEqual([{ name: 'a' }])
    const failing = test.db.snapshot(async () => {
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
  })
})
