import { beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { idAt } from '../../../kernel/ids.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'
import { searchStore, sortedMax } from './search.store.ts'

const total = sortedMax + 10

/** Everybody is called alike and came at once; the first of ten thousand are banned. */
const insertWide = statement({
  name: 'tests.insert-wide-accounts',
  text: `INSERT INTO accounts (id, username, display_name, display_folded, state,
      created_at_unix_ms, updated_at_unix_ms)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${total})
    SELECT CASE WHEN i <= 3 THEN 'a-' WHEN i > ${total - 3} THEN 'z-' ELSE '${idAt('user-', 5000)}' END
        || (100000 + i), 'wide-' || (100000 + i), 'Player', 'player',
      CASE WHEN i % 10000 = 1 THEN 'disabled' ELSE 'active' END, 5000, 5000 FROM n`,
})

/** Most have ids as the node makes them; some come before these, and some behind. */
const idsOf = (...numbers: number[]) =>
  numbers.map((number) => {
    const first = number <= 3 ? 'a-' : number > total - 3 ? 'z-' : idAt('user-', 5000)
    return `${first}${100_000 + number}`
  })

describe.each(testBackends)('[H-OPS-4] what most accounts match, on $name', (backend) => {
  let scenario: Scenario
  const asked: string[] = []
  /** As the store asks it, with the name of what it asks. */
  const queries = () => {
    const { db } = scenario
    const recording = {
      get: (...call: Parameters<Queries['get']>) => db.get(...call),
      all: (...call: Parameters<Queries['all']>) => {
        asked.push(call[0].name)
        return db.all(...call)
      },
    }
    return recording as unknown as Queries
  }
  beforeAll(async () => {
    scenario = await openScenario(backend)
    await scenario.db.run(insertWide, {})
    return () => scenario.dispose()
  })

  const page = { after: '', limit: 3 }

  it('is found in the order of ids, not sorted, by the beginning of a name', async () => {
    asked.length = 0
    const find = async (text: string, after = '') =>
      (await searchStore.byDisplayName(queries(), text, { ...page, after })).map(({ id }) => id)
    expect(await find('play')).toEqual(idsOf(1, 2, 3))
    expect(await find('player', idsOf(total - 2)[0])).toEqual(idsOf(total - 1, total))
    expect(await find('players')).toEqual([])
    expect(asked).toEqual([
      'account-search.by-wide-display-name',
      'account-search.by-wide-display-name',
      'account-search.by-display-name',
    ])
  })

  it('is found by the index of rare states, whenever they came', async () => {
    asked.length = 0
    const find = async (state: 'active' | 'disabled' | 'tombstoned', after = '') => {
      const times = { created_from: 5_000 }
      const found = await searchStore.byCreation(queries(), times, state, { ...page, after })
      return found.map(({ id }) => id)
    }
    expect(await find('disabled')).toEqual(idsOf(1, 10_001, 20_001))
    expect(await find('tombstoned')).toEqual([])
    expect(await find('active')).toEqual(idsOf(2, 3, 4))
    const rare = 'account-search.by-wide-creation-not-active'
    const wide = 'account-search.by-wide-creation'
    expect(asked).toEqual([rare, rare, wide, wide])
    expect(await find('active', idsOf(total - 4)[0])).toEqual(
      idsOf(total - 3, total - 2, total - 1),
    )
    expect(await find('active', idsOf(total - 1)[0])).toEqual(idsOf(total))
  })
})
