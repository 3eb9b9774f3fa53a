import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { onServer } from '../../database/testing/postgres-server.ts'
import { consoleAccountsStore } from '../../features/console-accounts/console-accounts.store.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { roomyLimits } from '../../script-test/test-config.ts'
import { openTestApi } from '../../testing/api.ts'
import {
  type Explainer,
  faultsOf,
  isPlannedAnew,
  multiply,
  openExplainer,
  recordSent,
  type Sent,
} from './plans.fixture.ts'
import { rush, rushedIndex } from './rush.fixture.ts'

/**
 * Statements of a rush have one plan, whatever PostgreSQL knows of the tables in the moment in
 * which it makes it: it may have looked at them when they were empty, or had the rows of few, or a
 * minute ago, or never. All statements that the requests of a rush send are explained in each of
 * these states.
 */
const grown = 10_000
const config = { ...roomyLimits, 'storage.indexes': JSON.stringify([rushedIndex]) }
const few = 1_000

const storageStatements = [
  'storage.list-with-values',
  'storage.query-equal-1',
  'storage.query-ordered-1',
  'storage.query-ordered-2',
]

type State = {
  name: string
  /** Of a small table a plan may read all: such plans are renewed before the table is large. */
  isSmall?: boolean
  /** It is entered from the rows of many. */
  isGrown?: boolean
  enter(explainer: Explainer): Promise<void>
}

const states: readonly State[] = [
  { name: 'nearly empty', isSmall: true, enter: async () => {} },
  { name: 'large and never analysed', isGrown: true, enter: async () => {} },
  {
    name: 'large and just analysed',
    isGrown: true,
    enter: (explainer) => explainer.run('ANALYZE'),
  },
  {
    name: 'analysed while they had the rows of few, and grown since',
    async enter(explainer) {
      await multiply(explainer, { rows: few, spread: false })
      await explainer.run('ANALYZE')
      await multiply(explainer, { rows: grown, spread: true })
    },
  },
  {
    name: 'analysed while nothing waited for its turn, and in a rush since',
    isGrown: true,
    async enter(explainer) {
      await explainer.run('UPDATE accounts SET counted = 1')
      await explainer.run('ANALYZE')
      await explainer.run('UPDATE accounts SET counted = 0')
    },
  },
]

const [postgres] = testBackends.filter(({ name }) => name === 'postgres')
let rushed: TestDatabase
/** The same, with the rows of many. */
let large: Copy
let sent: ReadonlyMap<string, Sent>

/** One rush for all states, each of which is entered in a copy of what it left. */
beforeAll(async () => {
  if (postgres === undefined) throw new Error('there is no PostgreSQL')
  rushed = await postgres.open({ config: { max_connections: 8 } })
  const recording = recordSent()
  const api = await openTestApi({ db: rushed.db, clock: createFakeClock(), config })
  const keeping = { signal: new AbortController().signal, progress() {} }
  await api.features.storage.indexes.keep(keeping)
  await rush(api)
  await consoleAccountsStore.countSome(rushed.db, 500)
  recording.stop()
  sent = recording.sent
  await api.close()
  await rushed.db.close()
  large = await copyOf(rushed.url)
  await explaining(large.url, (explainer) => multiply(explainer, { rows: grown, spread: true }))
}, 120_000)

afterAll(async () => {
  await large?.dispose()
  await rushed?.dispose()
})

type Copy = { url: string; dispose(): Promise<void> }
let copies = 0

async function copyOf(url: string): Promise<Copy> {
  copies += 1
  const { pathname } = new URL(url)
  const [source, name] = [pathname.slice(1), `${pathname.slice(1)}_${copies}`]
  const admin = url.replace(pathname, '/postgres')
  await onServer(admin, `CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`)
  const dispose = () => onServer(admin, `DROP DATABASE ${name} WITH (FORCE)`)
  return { url: url.replace(source, name), dispose }
}

async function explaining(url: string, work: (explainer: Explainer) => Promise<void>) {
  const explainer = await openExplainer(url)
  await work(explainer).finally(() => explainer.close())
}

it('[S-IX-6] [S-API-38] a rush sends what reads stored objects, among others', () => {
  expect([...sent.keys()]).toEqual(expect.arrayContaining([...storageStatements]))
})

it.each(states)(
  '[S-IX-6] [S-API-38] statements of a rush keep one plan on tables that are $name',
  async ({ enter, isSmall = false, isGrown = false }) => {
    const copy = await copyOf(isGrown ? large.url : rushed.url)
    const faults: string[] = []
    await explaining(copy.url, async (explainer) => {
      await enter(explainer)
      for (const each of sent.values()) {
        const plans = await explainer.plans(each)
        const found = [plans.kept, plans.own].flatMap((plan) => faultsOf(plan, { isSmall }))
        for (const fault of new Set(found)) faults.push(`${each.name} ${fault}`)
        if (isPlannedAnew(plans)) faults.push(`${each.name} is planned anew`)
      }
    }).finally(copy.dispose)
    expect(faults).toEqual([])
  },
  120_000,
)
