import { type LogLevel, scriptLogsApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'

const day = 86_400_000
const match = `mt1-${'0'.repeat(28)}1`
const nowhere = { match_id: null }

describe.each(testBackends)('lines of scripts on $name', (backend) => {
  let scenario: Scenario
  let operator: Operator
  beforeEach(async () => {
    scenario = await openScenario(backend, { 'logs.match_logs_max_queue_items': '4' })
    operator = await openOperator(scenario.api)
    return () => scenario.dispose()
  })
  const write = (
    message: string,
    more: { level?: LogLevel; tag?: string; payload_json?: string } = {},
  ) =>
    scenario.api.features.scriptLogs.write(
      { level: 'info', tag: 'game', message, ...more },
      nowhere,
    )
  const list = async (query = '') =>
    scriptLogsApi.list.ok.parse((await operator.send('GET', `/logs${query}`)).body)
  const messages = async (query = '') => (await list(query)).items.map(({ message }) => message)
  /** Written in turn, so that the small queue drops none. */
  const writeAll = async (...lines: readonly Parameters<typeof write>[]) => {
    for (const line of lines) {
      write(...line)
      await list()
    }
  }

  if (backend.name === 'in-memory') {
    it('[S-LOG-3] [H-LOG-6] [O-DB-5] go to the log of the process without a durable backend', async () => {
      expect([write('one'), write('two')]).toEqual([null, null])
      const seen = scenario.api.log.lines.map(({ level, message }) => [level, message])
      expect(seen.filter(([level]) => level === 'warn')).toHaveLength(1)
      expect(seen.filter(([, message]) => message === 'a line of the script')).toHaveLength(2)
      expect(await list()).toEqual({ items: [], durable: false, dropped_total: 0 })
      expect((await operator.send('GET', `/logs/ml1-${'0'.repeat(29)}`)).status).toBe(404)
      expect((await operator.send('GET', '/logs?level=loud')).status).toBe(400)
    })
    return
  }

  it('[S-LOG-2] [H-LOG-2] have an id at once, and their payload as it was given', async () => {
    const { write: writeLine } = scenario.api.features.scriptLogs
    const line = { level: 'warn', tag: 'shop', message: 'sold' } as const
    const id = writeLine({ ...line, payload_json: '{ "item": 1 }' }, { match_id: match })
    expect(id).toMatch(/^ml1-[0-9a-f]{29}$/)
    const shown = {
      log_id: id,
      match_id: match,
      node_id: 'dev-1',
      created_at_unix_ms: scenario.clock.nowUnixMs(),
      ...line,
      has_payload: true,
    }
    expect((await list()).items).toEqual([shown])
    const detail = await operator.send('GET', `/logs/${id?.toUpperCase().replace('ML1', 'ml1')}`)
    expect(detail.body).toEqual({ ...shown, payload_json: '{ "item": 1 }' })
    const made = `ml1-${'a'.repeat(29)}`
    expect(writeLine(line, nowhere, made)).toBe(made)
    expect((await operator.send('GET', `/logs/${made}`)).body).toMatchObject({
      log_id: made,
      match_id: null,
      has_payload: false,
    })
  })

  it('[H-LOG-1] are found by match, level and the beginning of their tag', async () => {
    await writeAll(
      ['one', { tag: 'game' }],
      ['two', { tag: 'game.shop', level: 'error' }],
      ['three', { tag: 'g' }],
      ['four', { tag: 'gamf', level: 'error' }],
    )
    scenario.api.features.scriptLogs.write(
      { level: 'error', tag: 'game', message: 'five' },
      { match_id: match },
    )
    expect(await messages()).toEqual(['five', 'four', 'three', 'two', 'one'])
    expect(await messages('?tag=game')).toEqual(['five', 'two', 'one'])
    expect(await messages('?level=error')).toEqual(['five', 'four', 'two'])
    expect(await messages('?level=error&tag=game')).toEqual(['five', 'two'])
    expect(await messages(`?match_id=${match}`)).toEqual(['five'])
    expect(await messages(`?match_id=${match}&level=info`)).toEqual([])
    expect(await messages(`?match_id=mt1-${'f'.repeat(29)}`)).toEqual([])
    expect(await messages('?tag=%25')).toEqual([])
  })

  it('[H-LOG-1] are paged newest first', async () => {
    await writeAll(['one'], ['two'], ['three'])
    const page = await list('?limit=2')
    expect(page.items.map(({ message }) => message)).toEqual(['three', 'two'])
    expect(page.next_after).toBe(page.items[1]?.log_id)
    const rest = await list(`?limit=2&after=${page.next_after}`)
    expect(rest.items.map(({ message }) => message)).toEqual(['one'])
    expect(rest).not.toHaveProperty('next_after')
  })

  it('[H-LOG-1] [H-LOG-6] [H-GEN-25] refuse what is malformed', async () => {
    const refused = [
      'match_id=x',
      'after=mt1-0',
      'tag=',
      `tag=${'t'.repeat(65)}`,
      'level=INFO',
      'x=1',
    ]
    for (const query of refused) {
      expect((await operator.send('GET', `/logs?${query}`)).status, query).toBe(400)
    }
    expect((await operator.send('GET', '/logs/nonsense')).status).toBe(404)
    expect((await operator.send('GET', '/logs/nonsense?x=1')).status).toBe(400)
  })

  it('[S-Q-1] [O-WB-3] count what a full queue drops', async () => {
    for (const message of ['one', 'two', 'three', 'four', 'five', 'six']) write(message)
    const { items, dropped_total } = await list()
    expect(items.map(({ message }) => message)).toEqual(['six', 'five', 'four', 'three'])
    expect(dropped_total).toBe(2)
    expect(scenario.api.counters().script_log_dropped_total).toBe(2)
  })

  it('[S-Q-2] are written after 250 ms, also when nobody reads', async () => {
    write('one')
    await scenario.clock.advance(249)
    expect(await scenario.countRows('script_logs')).toBe(0)
    await scenario.clock.advance(1)
    await expect.poll(() => scenario.countRows('script_logs')).toBe(1)
  })

  it('[S-Q-4] go after 30 days', async () => {
    await writeAll(['old'])
    await scenario.clock.advance(1000)
    await writeAll(['young'])
    await scenario.clock.advance(30 * day - 1000)
    expect(await scenario.api.pruner('script_logs')(10)).toBe(1)
    const left = await scenario.rowsOf('script_logs')
    expect(left.map(({ message }) => message)).toEqual(['young'])
  })

  it('[H-AUD-4] are read in sight of the ring, and of nobody later', async () => {
    const id = write('one')
    await list()
    await list(`?match_id=${match}`)
    await operator.send('GET', `/logs/${id}`)
    const seen = scenario.api.features.audit.recorder
      .newest(3, ({ action }) => action.startsWith('logs.'))
      .map(({ action, target, details }) => [action, target, details])
    expect(seen).toEqual([
      ['logs.detail', id, 'returned=1'],
      ['logs.list', match, 'returned=0'],
      ['logs.list', 'logs', 'returned=1'],
    ])
    expect(await operator.trailOf('logs')).toEqual([])
  })
})
