import { linesLookedThrough, scriptLogsApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type LogRow, scriptLogsStore } from './script-logs.store.ts'

const match = `mt1-${'0'.repeat(28)}1`
const noonUnixMs = 1_700_000_000_000

/** The line of a moment; its id has that moment as well. */
function lineAt(offsetMs: number, said: Partial<LogRow> = {}): LogRow {
  const at = noonUnixMs + offsetMs
  return {
    log_id: `ml1-${at.toString(16).padStart(13, '0')}${'0'.repeat(16)}`,
    match_id: null,
    node_id: 'dev-1',
    created_at_unix_ms: at,
    level: 'info',
    tag: 'game',
    message: `line ${offsetMs}`,
    payload_json: null,
    ...said,
  }
}

describe.each(testBackends)('lines of scripts are looked through on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend)
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })
  const ask = (query: Record<string, string | number>) =>
    operator.send('GET', `/log-search?${new URLSearchParams(JSON.parse(JSON.stringify(query)))}`)
  const search = async (query: Record<string, string | number>) =>
    scriptLogsApi.search.ok.parse((await ask(query)).body)
  const messages = async (query: Record<string, string | number>) =>
    (await search(query)).items.map(({ message }) => message)
  const keep = (lines: readonly LogRow[]) => scriptLogsStore.insert(scenario.db, lines)

  if (backend.name === 'in-memory') {
    it('[O-DB-5] nothing is found in memory, where no lines are kept', async () => {
      expect(await search({ text: 'a' })).toEqual({ items: [], durable: false, dropped_total: 0 })
    })
    return
  }

  it('[H-LOG-1] by what the message contains, letter by letter, beside the filters', async () => {
    await keep([
      lineAt(1, { message: 'sold a Sword', level: 'warn' }),
      lineAt(2, { message: 'sold a sword', payload_json: '{"of":"ann"}', match_id: match }),
      lineAt(3, { message: '100 % of 5_000', tag: 'shop', level: 'warn', match_id: match }),
    ])
    expect(await messages({ text: 'sword' })).toEqual(['sold a sword'])
    expect(await messages({ text: 'sold' })).toEqual(['sold a sword', 'sold a Sword'])
    expect(await messages({ text: 'ann' })).toEqual([])
    expect(await messages({ text: '% of 5_' })).toEqual(['100 % of 5_000'])
    expect(await messages({ text: 'a', match_id: match })).toHaveLength(1)
    expect(await messages({ level: 'warn', text: 'sold' })).toEqual(['sold a Sword'])
    expect(await messages({ level: 'warn', match_id: match })).toEqual(['100 % of 5_000'])
    expect(await messages({ tag: 'sh' })).toEqual(['100 % of 5_000'])
    expect((await search({})).items.map(({ has_payload }) => has_payload)).toEqual([
      false,
      true,
      false,
    ])
  })

  it('by when they were written, both ends with them', async () => {
    await keep([lineAt(0), lineAt(10), lineAt(20), lineAt(200_000)])
    const [from, to] = [noonUnixMs + 10, noonUnixMs + 20]
    expect(await messages({ from, to })).toEqual(['line 20', 'line 10'])
    expect(await messages({ from })).toEqual(['line 200000', 'line 20', 'line 10'])
    expect(await messages({ to })).toEqual(['line 20', 'line 10', 'line 0'])
    expect(await messages({ from: to, to: from })).toEqual([])
    expect(await messages({ from: Number.MAX_SAFE_INTEGER })).toEqual([])
    expect(await messages({ to: Number.MAX_SAFE_INTEGER })).toHaveLength(4)
  })

  it('the time is that of the line, also where its id is of a moment before, or behind', async () => {
    const [early, late] = [lineAt(0), lineAt(60_000)]
    early.created_at_unix_ms += 30_000
    late.created_at_unix_ms -= 60_000
    await keep([early, late])
    expect(await messages({ from: noonUnixMs + 1 })).toEqual(['line 0'])
    expect(await messages({ to: noonUnixMs + 29_999 })).toEqual(['line 60000'])
    expect(await messages({ to: noonUnixMs })).toEqual(['line 60000'])
  })

  it('[H-LOG-1] the time is that of the line while the clock, set back, has not caught up', async () => {
    const ahead = lineAt(3_600_000).log_id.slice(0, 21)
    const late = (offsetMs: number, said: Partial<LogRow> = {}) => {
      const log_id = `${ahead}${String(offsetMs).padStart(12, '0')}`
      return lineAt(offsetMs, { log_id, ...said })
    }
    await keep([lineAt(0), lineAt(50), late(10), late(20, { level: 'warn', match_id: match })])
    const [from, to] = [noonUnixMs + 10, noonUnixMs + 50]
    expect(await messages({ from, to })).toEqual(['line 20', 'line 10', 'line 50'])
    expect(await messages({ to: from })).toEqual(['line 10', 'line 0'])
    expect(await messages({ to, level: 'warn' })).toEqual(['line 20'])
    expect(await messages({ to, match_id: match })).toEqual(['line 20'])
    const read: string[] = []
    for (let after: string | undefined = 'ml1-z'; after !== undefined; ) {
      const { items, next_after } = await search({ to, limit: 1, ...(read.length && { after }) })
      read.push(...items.map(({ message }) => message))
      after = next_after
    }
    expect(read).toEqual(['line 20', 'line 10', 'line 50', 'line 0'])
  })

  it('so many for one page, which says how far that went', async () => {
    const oldest = lineAt(0, { message: 'the needle', tag: 'odd' })
    const others = Array.from({ length: linesLookedThrough }, (_, index) => lineAt(index + 1))
    for (let at = 0; at < others.length; at += 2_000) await keep(others.slice(at, at + 2_000))
    await keep([oldest])
    const first = await search({ text: 'needle', tag: 'odd' })
    expect(first).toMatchObject({
      items: [],
      next_after: others[0]?.log_id,
      looked_back_to_unix_ms: noonUnixMs + 1,
    })
    const second = await search({ text: 'needle', tag: 'odd', after: first.next_after ?? '' })
    expect(second.items.map(({ message }) => message)).toEqual(['the needle'])
    expect(second).not.toHaveProperty('next_after')
    const page = await search({ text: 'line', limit: 2 })
    expect(page.next_after).toBe(page.items[1]?.log_id)
    expect(await messages({ text: 'line', limit: 1, after: page.next_after ?? '' })).toEqual([
      `line ${linesLookedThrough - 2}`,
    ])
  })

  it('[H-AUD-4] in sight of the ring, and refuses what is malformed', async () => {
    await ask({ match_id: match, text: 'a secret' })
    const [seen] = scenario.api.features.audit.recorder.newest(1, () => true)
    expect(seen).toMatchObject({ action: 'logs.list', target: match, details: 'returned=0' })
    expect(await operator.trailOf(match)).toEqual([])
    for (const query of [{ text: '' }, { from: '-1' }, { to: 'x' }, { after: 'x' }, { x: '1' }]) {
      expect([query, (await ask(query as Record<string, string>)).status]).toEqual([query, 400])
    }
  })
})
