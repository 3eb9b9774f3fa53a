import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { OpenedDatabase } from '../../../database/migrations/schema-access.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import type { TestApi } from '../../../testing/api.ts'
import { createCaller } from '../../../testing/api.ts'
import { examine } from '../../../testing/doctor.ts'
import { startNodeProcess } from '../../../testing/node-process.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { openStorageOperator, pathOf, type StorageOperator } from '../storage.fixture.ts'
import { versionOf } from './operations.ts'

const indexed = [{ name: 'by_n', collection: 'saves', fields: ['n'] }]
const run = { signal: new AbortController().signal, progress() {} }
const isConflict = expect.objectContaining({ name: 'Failure', code: 'conflict' })

type Runtime = TestApi['features']['storage']['runtime']

describe.each(testBackends)('writes at the same time on $name', (backend) => {
  const isPostgres = backend.name === 'postgres'
  let scenario: Scenario
  let nodes: TestApi[]
  let runtimes: Runtime[]
  let operators: StorageOperator[]
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'storage.indexes': JSON.stringify(indexed) })
    nodes = [scenario.api, await scenario.openNode()]
    runtimes = nodes.map(({ features }) => features.storage.runtime)
    for (const { features } of nodes) await features.storage.indexes.keep(run)
    operators = await Promise.all(nodes.map((node) => openStorageOperator(node)))
    return () => scenario.dispose()
  })

  /** Sixteen calls at once, in turn on both nodes. */
  const atOnce = <T>(call: (runtime: Runtime, at: number) => Promise<T>) =>
    Promise.allSettled(
      Array.from({ length: 16 }, async (_, at) => call(runtimes[at % 2] as Runtime, at)),
    )

  it('[H-STO-6] of many writers with the same version exactly one wins', async () => {
    const at = { owner: 'ana', collection: 'saves', key: 'contended' }
    let version = ''
    for (let round = 0; round < 12; round += 1) {
      const answers = await atOnce((runtime, n) =>
        runtime.write({ ...at, value: { n: round * 100 + n }, version }),
      )
      const won = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
      expect(won).toHaveLength(1)
      for (const answer of answers) {
        if (answer.status === 'rejected') expect(answer.reason).toEqual(isConflict)
      }
      const read = await runtimes[round % 2]?.read(at)
      expect(read?.version).toBe(won[0]?.version)
      version = read?.version ?? ''
    }
  })

  it('[H-STO-6] over HTTP the losers get 409, and leave no trace', async () => {
    const path = pathOf('saves', 'over-http')
    const { version } = await (operators[0] as StorageOperator).put(path, { n: -1 })
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (operators[n % 2] as StorageOperator).write(path, { value: { n }, version }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 11 }, () => 409)])
    if (backend.name !== 'in-memory') {
      expect(
        await scenario.rowsOf('audit_unsealed', "target = 'saves/over-http (system)'"),
      ).toHaveLength(2)
    }
  })

  it('[H-STO-6] [H-STO-7] an object is created once and removed once', async () => {
    for (let round = 0; round < 6; round += 1) {
      const at = { owner: null, collection: 'saves', key: `once-${round}` }
      const made = await atOnce((runtime, n) => runtime.write({ ...at, value: { n }, version: '' }))
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const gone = await atOnce((runtime) => runtime.remove(at))
      expect(gone.filter((each) => each.status === 'fulfilled' && each.value)).toHaveLength(1)
      expect(gone.filter(({ status }) => status === 'rejected')).toEqual([])
    }
  })

  it('[O-TX-5] unconditional writes of new objects all succeed, however they meet', async () => {
    for (let round = 0; round < 6; round += 1) {
      const answers = await atOnce((runtime, n) =>
        runtime.writeAll(
          ['x', 'y', 'z'].map((key) => {
            return { owner: `u${round}`, collection: 'met', key, value: { n } }
          }),
        ),
      )
      expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
    }
    const rows = await scenario.rowsOf('storage_collections', "collection = 'met'")
    expect(Number(rows[0]?.objects)).toBe(18)
  })

  it('[H-STO-6] a counter that everybody moves by compare and swap loses nothing', async () => {
    const at = { owner: null, collection: 'saves', key: 'counter' }
    await runtimes[0]?.write({ ...at, value: { n: 0 } })
    const add = async (runtime: Runtime) => {
      for (;;) {
        const { value_json = '{}', version } = (await runtime.read(at)) ?? {}
        const n = JSON.parse(value_json).n + 1
        try {
          return await runtime.write({ ...at, value: { n }, version })
        } catch (error) {
          expect(error).toEqual(isConflict)
        }
      }
    }
    const answers = await atOnce(async (runtime) => {
      for (let turn = 0; turn < 3; turn += 1) await add(runtime)
    })
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
    expect((await runtimes[1]?.read(at))?.version).toBe(versionOf('{"n":48}'))
  })

  it('[O-TX-1] batches over the same objects are done whole, one after another', async () => {
    const at = (key: string) => ({ owner: null, collection: 'twins', key })
    const answers = await atOnce((runtime, n) => {
      // In either order, so that two that did it by turns would wait for each other.
      const keys = n % 4 < 2 ? ['a', 'b'] : ['b', 'a']
      return runtime.writeAll(keys.map((key) => ({ ...at(key), value: { n } })))
    })
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
    const [a, b] = await Promise.all(['a', 'b'].map((key) => runtimes[0]?.read(at(key))))
    expect(a?.version).toBe(b?.version)
  })

  const storageFinding = async () => {
    return (await examine(scenario.db as OpenedDatabase, { only: ['storage'] }))[0]
  }

  /** Sixteen writers, each of whom waits for one call before the next. */
  const storm = (collection: string) =>
    atOnce(async (runtime, at) => {
      for (let turn = 0; turn < 25; turn += 1) {
        const place = { owner: null, collection, key: `k${(at * 7 + turn * 3) % 40}` }
        if ((at + turn) % 5 === 0) await runtime.remove(place)
        else await runtime.write({ ...place, value: { n: (at + turn) % 3 } })
      }
    })

  it('[S-IX-2] [O-DOC-1] leave indexes, counts and versions as they must be', async () => {
    const answers = await storm('saves')
    expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(await storageFinding()).toMatchObject({ ok: true, violations: 0 })
    expect(nodes.flatMap(({ failures }) => failures)).toEqual([])
  })

  it('[S-IX-2] an index that is built meanwhile misses nothing, and keeps nothing', async () => {
    const names: string[] = []
    for (let round = 0; round < (isPostgres ? 6 : 3); round += 1) {
      names.push(`late_${round}`)
      const late = names.map((name) => ({ name, collection: 'late', fields: ['n'] }))
      const declared = JSON.stringify([...indexed, ...late])
      const node = await scenario.openNode({ 'storage.indexes': declared })
      const { runtime, indexes } = node.features.storage
      await storm('late')
      await Promise.all([indexes.keep(run), storm('late')])
      expect(await storageFinding()).toMatchObject({ ok: true, violations: 0 })
      const { items } = await runtime.query(`late_${round}`, {}, { limit: 100 })
      const [counted] = await scenario.rowsOf('storage_collections', "collection = 'late'")
      expect(items).toHaveLength(Number(counted?.objects))
    }
  })
})

it('[H-STO-6] two server processes on one PostgreSQL agree on every winner', async () => {
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('no PostgreSQL backend')
  const { url, dispose } = await postgres.open()
  const keys = { 'database.url': url, 'runtime.enabled': 'false' }
  const processes = await Promise.all(
    ['one', 'two'].map((id) => startNodeProcess({ ...keys, 'server.node_id': id })),
  )
  const operators = await Promise.all(
    processes.map((node) => openStorageOperator({ call: createCaller(node.url) })),
  )
  const path = pathOf('saves', 'slot', { user_id: randomUUID() })
  let version = ''
  for (let round = 0; round < 20; round += 1) {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (operators[n % 2] as StorageOperator).write(path, { value: { round, n }, version }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
    const stored = await (operators[round % 2] as StorageOperator).get(path)
    expect(answers[Number(stored.value.n)]?.status).toBe(200)
    version = stored.version
  }
  expect(await Promise.all(processes.map((node) => node.stop()))).toEqual([0, 0])
  await dispose()
})
