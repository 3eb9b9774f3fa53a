import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it, vi } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { roomyLimits } from '../../script-test/test-config.ts'
import { openTestApi } from '../../testing/api.ts'
import { rush, rushedIndex } from './rush.fixture.ts'

/** Tables that grow with players and what they do, with the names they have in a statement. */
const tables = [
  ...['accounts', 'identities', 'sessions', 'wallet_\\w+', 'friend_edges', 'group\\w*'],
  ...['storage_objects', 'leaderboard_\\w+', 'notifications', 'chat_\\w+'],
].join('|')
const large = new RegExp(
  `\\b(?:FROM|JOIN|UPDATE)\\s+(${tables})\\b(?:\\s+(?:AS\\s+)?([a-z])\\b)?`,
  'g',
)

/** Steps of a plan that read all of a large table, unless a LIMIT ends them in an index's order. */
function scansOf(text: string, steps: readonly string[]): string[] {
  const names = [...text.matchAll(large)].map(([, table, alias]) => alias ?? table ?? '')
  const made = (name: string) =>
    new RegExp(`\\) AS ${name}\\b|\\b${name} AS MATERIALIZED`).test(text)
  const scanned = names.filter((name) => !made(name)).map((name) => `SCAN ${name}`)
  const inOrder = /\bLIMIT\b/.test(text) ? / USING (?:COVERING )?INDEX |^SCAN groups$/ : /^$/
  return steps.filter(
    (step) =>
      scanned.some((scan) => step === scan || step.startsWith(`${scan} `)) && !inOrder.test(step),
  )
}

afterEach(() => void vi.restoreAllMocks())

it('[H-OPS-4] statements of a rush seek their rows on SQLite', async () => {
  const test = await testBackends.find(({ name }) => name === 'sqlite')?.open()
  if (test === undefined) throw new Error('there is no SQLite')
  const texts = new Set<string>()
  const { prepare } = DatabaseSync.prototype
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    text,
  ) {
    texts.add(text)
    return prepare.call(this, text)
  })
  const config = { ...roomyLimits, 'storage.indexes': JSON.stringify([rushedIndex]) }
  const api = await openTestApi({ db: test.db, clock: createFakeClock(), config })
  const keeping = { signal: new AbortController().signal, progress() {} }
  await api.features.storage.indexes.keep(keeping)
  await rush(api)
  await api.close()
  vi.restoreAllMocks()
  const explainer = new DatabaseSync(test.url.replace(/^sqlite:/, ''))
  try {
    explainer.function('guildhall_now', () => 0)
    const planned = [...texts].filter((text) => /^\s*(?:select|update|delete|with)\b/i.test(text))
    const faults = planned.flatMap((text) => {
      const steps = explainer.prepare(`EXPLAIN QUERY PLAN ${text}`).all()
      const details = steps.map(({ detail }) => String(detail))
      return scansOf(text, details).map((scan) => `${scan}: ${text}`)
    })
    expect(faults).toEqual([])
  } finally {
    explainer.close()
    await test.dispose()
  }
})
