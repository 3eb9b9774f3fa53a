import { afterEach, expect, it, vi } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
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

/** Of a small table a plan may read all: such plans are renewed before the table is large. */
type State = { name: string; isSmall?: boolean; enter(explainer: Explainer): Promise<void> }

const states: readonly State[] = [
  { name: 'nearly empty', isSmall: true, enter: async () => {} },
  {
    name: 'large and never analysed',
    enter: (explainer) => multiply(explainer, { rows: grown, spread: true }),
  },
  {
    name: 'large and just analysed',
    async enter(explainer) {
      await multiply(explainer, { rows: grown, spread: true })
      await explainer.run('ANALYZE')
    },
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
    async enter(explainer) {
      await multiply(explainer, { rows: grown, spread: true })
      await explainer.run('UPDATE accounts SET counted = 1')
      await explainer.run('ANALYZE')
      await explainer.run('UPDATE accounts SET counted = 0')
    },
  },
]

afterEach(() => void vi.restoreAllMocks())

const [postgres] = testBackends.filter(({ name }) => name === 'postgres')

it.each(states)(
  '[S-IX-6] [S-API-38] statements of a rush keep one plan on tables that are $name',
  async ({ enter, isSmall = false }) => {
    const test = await postgres?.open({ config: { max_connections: 8 } })
    if (test === undefined) throw new Error('there is no PostgreSQL')
    const recording = recordSent()
    const api = await openTestApi({ db: test.db, clock: createFakeClock(), config })
    const keeping = { signal: new AbortController().signal, progress() {} }
    await api.features.storage.indexes.keep(keeping)
    await rush(api)
    await consoleAccountsStore.countSome(test.db, 500)
    recording.stop()
    const names = [...recording.sent.keys()].join()
    for (const name of storageStatements) expect(names).toContain(name)
    await api.close()
    const explainer = await openExplainer(test.url)
    try {
      await enter(explainer)
      const faults: string[] = []
      for (const sent of recording.sent.values()) {
        const plans = await explainer.plans(sent)
        const found = [plans.kept, plans.own].flatMap((plan) => faultsOf(plan, { isSmall }))
        for (const fault of new Set(found)) faults.push(`${sent.name} ${fault}`)
        if (isPlannedAnew(plans)) faults.push(`${sent.name} is planned anew`)
      }
      expect(faults).toEqual([])
    } finally {
      await explainer.close()
      await test.dispose()
    }
  },
  120_000,
)
