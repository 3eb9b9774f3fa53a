import { expect, it } from 'vitest'
import type { Queries } from '../../database/database.ts'
import { PreparedStatements } from '../../database/postgres/prepared.ts'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { searchStore, sortedMax } from '../../features/console-accounts/search/search.store.ts'
import { searchLines } from '../../features/script-logs/script-logs.search.store.ts'
import { openExplainer, type Plan, type Sent } from './plans.fixture.ts'

/*
 * What operators look for among many rows is found in the order of an index. PostgreSQL has never
 * looked at these tables: it guesses their rows by their bytes, and what a filter leaves of them.
 */
const rows = 20_000
const accounts = `INSERT INTO accounts (id, username, display_name, display_folded, metadata, state,
    created_at_unix_ms, updated_at_unix_ms)
  SELECT 'a' || i, 'a' || i, 'player', 'player', repeat('x', 1900), 'active', i, i
  FROM generate_series(1, ${rows}) AS i`
const lines = `INSERT INTO script_logs (log_id, match_id, node_id, created_at_unix_ms, level, tag,
    message)
  SELECT 'ml1-' || (100000 + i), 'm', 'n', i, 'info', 't', repeat('x', 1900)
  FROM generate_series(1, ${rows}) AS i`

it('[H-OPS-4] searches among many rows keep the order of an index on PostgreSQL', async () => {
  const { url, dispose } = await postgres().open()
  const explainer = await openExplainer(url)
  try {
    for (const filling of [accounts, lines]) await explainer.run(filling)
    const faults: string[] = []
    for (const search of await searches()) {
      await explainer.run(`SET enable_sort = ${search.inOrder ? 'off' : 'on'}`)
      const { own } = await explainer.plans(search)
      const others = typesOf(own).filter((type) => /Seq Scan|Sort|Bitmap/.test(type))
      if (others.length > 0) faults.push(`${search.name}: ${others.join()}`)
    }
    expect(faults).toEqual([])
  } finally {
    await explainer.close()
    await dispose()
  }
})

it('[H-OPS-4] and only what is in order is not sorted in a long read', async () => {
  const { db, dispose } = await postgres().open()
  const sorts = (inOrder: boolean) =>
    statement({
      name: `tests.sorts-${inOrder}`,
      text: `SELECT current_setting('enable_sort') AS setting`,
      row: { setting: 'text' },
      ...{ long: true, inOrder },
    })
  try {
    const seen = db.longRead(async (tx) => [
      await Promise.all([tx.get(sorts(true), {}), tx.all(sorts(false), {})]),
      await tx.all(sorts(true), {}),
      await tx.get(sorts(false), {}),
    ])
    const [on, off] = [{ setting: 'on' }, { setting: 'off' }]
    expect(await seen).toEqual([[off, [on]], [off], on])
    expect(await db.all(sorts(true), {})).toEqual([off])
  } finally {
    await dispose()
  }
})

function postgres() {
  const backend = testBackends.find(({ name }) => name === 'postgres')
  if (backend === undefined) throw new Error('there is no PostgreSQL')
  return backend
}

/** As they are asked where much is found. */
async function searches(): Promise<(Sent & { inOrder: boolean })[]> {
  const prepared = new PreparedStatements()
  const sent = new Map<string, Sent & { inOrder: boolean }>()
  const ask = (...[statement, params]: Parameters<Queries['all']>) => {
    const { prepared: query, values } = prepared.call(statement, params)
    const { name, inOrder } = statement
    sent.set(name, { name, text: query.text, values, inOrder })
  }
  const queries = {
    async all(...call: Parameters<Queries['all']>) {
      ask(...call)
      return []
    },
    async get(...call: Parameters<Queries['get']>) {
      ask(...call)
      return { total: sortedMax }
    },
  } as unknown as Queries
  const page = { after: '', limit: 51 }
  await searchStore.byCreation(queries, { created_from: 1, created_to: rows }, undefined, page)
  await searchStore.byDisplayName(queries, 'play', page)
  for (const of of [{}, { level: 'info' }, { match_id: 'm' }] as const) {
    await searchLines(queries, { ...of, text: 'nowhere', limit: 51 })
  }
  expect(sent.size).toBe(10)
  return [...sent.values()]
}

function typesOf({ 'Node Type': type, Plans = [] }: Plan): string[] {
  return [type, ...Plans.flatMap(typesOf)]
}
