import type { JsonObject } from '@guildhall/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../../testing/scenario.ts'

const byLevel = { name: 'by_level', collection: 'saves', fields: ['level'] }
const run = { signal: new AbortController().signal, progress() {} }

describe.each(testBackends)('a query of large objects on $name', (backend) => {
  let scenario: Scenario
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'storage.indexes': JSON.stringify([byLevel]) })
    await scenario.api.features.storage.indexes.keep(run)
    return () => scenario.dispose()
  })
  const runtime = () => scenario.api.features.storage.runtime
  const write = (key: string, value: JsonObject) =>
    runtime().write({ owner: 'large', collection: 'saves', key, value })

  it('[S-IX-3] ends a page where its values would pass 4 MiB', async () => {
    const half = 524_288 - 100
    for (let at = 0; at < 10; at += 1) {
      await write(`k${at}`, { level: 77, filler: 'x'.repeat(half) })
    }
    await write('k9small', { level: 77 })
    const { query } = runtime()
    const pages: string[][] = []
    let after: string | undefined
    do {
      const page = await query('by_level', { level: 77 }, { limit: 100, after })
      pages.push(page.items.map(({ key }) => key))
      after = page.next ?? undefined
    } while (after !== undefined)
    expect(pages).toEqual([
      ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7'],
      ['k8', 'k9', 'k9small'],
    ])
  })
})
