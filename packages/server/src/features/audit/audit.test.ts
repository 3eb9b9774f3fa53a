import { auditApi, consoleApi, scopes } from '@guildhall/contract'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import {
  type AuditEvent,
  createAuditRecorder,
  type RecordedEvent,
} from '../../kernel/audit/recorder.ts'
import { createIds, newBootId } from '../../kernel/ids.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createAudit, createTrailWriter } from './audit.service.ts'
import { sealerOn } from './chain/sealer.fixture.ts'

const day = 86_400_000

/** Signs the admin in and reads the trail with that token. */
async function openReader(scenario: Scenario) {
  const body = { username: 'admin', password: 'password' }
  const login = await scenario.api.call('POST', '/console/v1/login', { body })
  const { token } = consoleApi.login.ok.parse(login.body)
  const get = (query = '') => scenario.api.call('GET', `/console/v1/audit${query}`, { token })
  const list = async (query = '') => auditApi.list.ok.parse((await get(query)).body)
  return { get, list }
}

/** Leaves entries behind whose actors say which attempt they are of. */
async function fail(scenario: Scenario, actors: readonly string[]) {
  for (const username of actors) {
    const body = { username, password: 'wrong' }
    const answer = await scenario.api.call('POST', '/console/v1/login', { body })
    expect(answer.status).toBe(401)
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `actor-${index}`)

describe.each(testBackends)('reading the audit trail on $name', (backend) => {
  const durable = backend.name !== 'in-memory'
  let scenario: Scenario
  let reader: Awaited<ReturnType<typeof openReader>>
  beforeAll(async () => {
    scenario = await openScenario(backend)
    reader = await openReader(scenario)
    return () => scenario.dispose()
  })

  it('[H-AUD-6] [H-AUD-7] answers newest first, with what this node has just recorded', async () => {
    await fail(scenario, ['first', 'second'])
    const page = await reader.list('?limit=2')
    expect(page.entries.map(({ actor }) => actor)).toEqual(['second', 'first'])
    expect(page).toMatchObject({ durable, dropped_total: 0, capacity: 1024 })
    expect(page.retained).toBeGreaterThanOrEqual(3)
    expect(page.entries[0]).toEqual({
      time_unix_ms: scenario.clock.nowUnixMs(),
      actor_type: 'human',
      actor: 'second',
      role: '-',
      action: 'console.login_failed',
      target: 'console',
      details: 'invalid credentials',
    })
  })

  it('[H-AUD-8] takes actor exactly and action as a literal prefix', async () => {
    const actors = ['50%', '50x', 'a_b', 'axb', 'Äda', 'äda']
    await fail(scenario, actors)
    const of = async (query: string) =>
      (await reader.list(query)).entries.map((entry) => entry.actor)
    for (const actor of actors) {
      expect(await of(`?actor=${encodeURIComponent(actor)}`)).toEqual([actor])
    }
    expect(await of('?actor=5')).toEqual([])
    expect(await of('?actor=')).toEqual([])
    expect(await of(`?actor=${encodeURIComponent('x'.repeat(1024))}`)).toEqual([])
    const actions = async (action: string) =>
      new Set(
        (await reader.list(`?action=${encodeURIComponent(action)}`)).entries.map((e) => e.action),
      )
    const both = new Set(['console.login', 'console.login_failed'])
    expect(await actions('')).toEqual(both)
    expect(await actions('console.login')).toEqual(both)
    expect(await actions('console.login_')).toEqual(new Set(['console.login_failed']))
    for (const none of [
      'console%',
      'c_nsole',
      'Console',
      'console.login_failed2',
      '%',
      '_',
      '\u{10ffff}',
    ]) {
      expect(await actions(none)).toEqual(new Set())
    }
    expect(await of('?action=console.login_f&actor=a_b')).toEqual(['a_b'])
    expect(await of('?action=storage&actor=a_b')).toEqual([])
  })

  it('[H-AUD-8] reports its ring whatever the filters are', async () => {
    const whole = await reader.list()
    const none = await reader.list('?actor=nobody')
    expect(none.entries).toEqual([])
    expect([none.retained, none.capacity]).toEqual([whole.retained, whole.capacity])
  })

  it('[H-AUD-6] [H-AUD-8] gives an empty page for a match that nothing reports', async () => {
    for (const match of ['mt1-00000', 'anything at all', '%', '']) {
      const page = await reader.list(`?match_id=${encodeURIComponent(match)}`)
      expect(page.entries).toEqual([])
      expect(page).not.toHaveProperty('next_after')
    }
  })

  it.each([
    'au1-',
    'au1-xyz',
    `au1-${'0'.repeat(28)}`,
    `au1-${'0'.repeat(30)}`,
    `ml1-${'0'.repeat(29)}`,
    `au1-${'g'.repeat(29)}`,
    `au1-${'0'.repeat(29)}%0A`,
    '',
  ])('[H-AUD-6] refuses the cursor %j on every backend', async (after) => {
    const answer = await reader.get(`?after=${after}`)
    expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
  })

  it.each([
    'unknown=1',
    'Limit=1',
    'actor=a&actor=a',
    'limit=1&limit=1',
    'limit=',
    'limit=-1',
    'limit=%2B1',
    'limit=1.5',
    'limit=x',
    'actor=%00',
    `actor=${'x'.repeat(1025)}`,
    'actor=%ff',
  ])('[H-GEN-25] [H-GEN-26] refuses the query %.40s', async (query) => {
    expect((await reader.get(`?${query}`)).status).toBe(400)
  })

  it('[H-GEN-26] clamps limit to 1..500, with 100 as its default', async () => {
    await fail(scenario, numbered(101))
    const sizes = []
    for (const query of [
      '',
      '?limit=0',
      '?limit=1',
      '?limit=101',
      '?limit=999999999999999999999',
    ]) {
      sizes.push((await reader.list(query)).entries.length)
    }
    expect(sizes.slice(0, 4)).toEqual([100, 1, 1, 101])
    expect(sizes[4]).toBeGreaterThan(101)
    expect(sizes[4]).toBeLessThanOrEqual(500)
  })

  it.runIf(durable)('[H-ID-3] [H-AUD-7] pages to the end without gap or repeat', async () => {
    const whole = (await reader.list('?limit=500')).entries
    expect(whole.length).toBeGreaterThan(100)
    for (const size of [1, 7, whole.length - 1, whole.length]) {
      const found: unknown[] = []
      let query = `?limit=${size}`
      for (let page = await reader.list(query); ; page = await reader.list(query)) {
        found.push(...page.entries)
        if (page.next_after === undefined) break
        expect(page.entries).toHaveLength(size)
        // A cursor may come back in either case, and meanwhile newer entries may have come.
        const after = found.length % 2 === 0 ? page.next_after : page.next_after.toUpperCase()
        query = `?limit=${size}&after=${after}`
      }
      expect(found).toEqual(whole)
    }
  })

  it.runIf(durable)(
    '[H-AUD-7] [H-ID-2] pages with filters, and from a cursor whose row is gone',
    async () => {
      await fail(scenario, ['p', 'q', 'p', 'q', 'p'])
      const first = await reader.list('?actor=p&limit=2')
      expect(first.entries).toHaveLength(2)
      const rest = await reader.list(`?actor=p&limit=2&after=${first.next_after}`)
      expect(rest.entries).toHaveLength(1)
      expect(rest).not.toHaveProperty('next_after')
      const all = await reader.list('?limit=500')
      const newest = await reader.list(`?limit=500&after=au1-${'f'.repeat(29)}`)
      expect(newest.entries).toEqual(all.entries)
      expect((await reader.list(`?after=au1-${'0'.repeat(29)}`)).entries).toEqual([])
    },
  )

  it.runIf(!durable)('[H-AUD-6] knows no cursors where nothing is durable', async () => {
    const page = await reader.list('?limit=1')
    expect(page.entries).toHaveLength(1)
    expect(page).not.toHaveProperty('next_after')
    expect((await reader.list(`?after=au1-${'f'.repeat(29)}`)).entries).toEqual([])
  })

  it.runIf(durable)('[H-AUD-7] shows entries of all nodes', async () => {
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    const body = { username: 'from afar', password: 'wrong' }
    await other.call('POST', '/console/v1/login', { body })
    expect((await reader.list('?actor=from+afar')).entries).toEqual([])
    await other.queues[0]?.flush(2000)
    expect((await reader.list('?actor=from+afar')).entries).toHaveLength(1)
    const [row] = await scenario.rowsOf('audit_unsealed', `actor = 'from afar'`)
    expect(row?.node_id).toBe('dev-2')
  })

  it('[H-AUD-4] does not record that a human reads', async () => {
    const { retained } = await reader.list()
    await reader.get('?limit=x')
    expect((await reader.list()).retained).toBe(retained)
  })
})

describe.each(testBackends)('keeping the audit trail on $name', (backend) => {
  const durable = backend.name !== 'in-memory'
  let scenario: Scenario
  beforeEach(async () => {
    scenario = await openScenario(backend, {
      'logs.audit_ring_capacity': '5',
      'logs.audit_max_queue_items': '8',
      'logs.audit_retention_days': '2',
    })
    return () => scenario.dispose()
  })

  it('[H-AUD-9] keeps the newest entries in its ring, however small', async () => {
    await fail(scenario, numbered(7))
    const { list } = await openReader(scenario)
    const page = await list()
    expect([page.retained, page.capacity]).toEqual([5, 5])
    const newest = ['actor-6', 'actor-5', 'actor-4', 'actor-3']
    expect(page.entries.map(({ actor }) => actor).slice(0, 5)).toEqual(['admin', ...newest])
    expect(page.entries).toHaveLength(durable ? 8 : 5)
  })

  it.runIf(durable)(
    '[H-AUD-8] counts what a full queue has dropped, and keeps the newest',
    async () => {
      await fail(scenario, numbered(11))
      const { list } = await openReader(scenario)
      const page = await list()
      expect(page.dropped_total).toBe(4)
      expect(page.entries).toHaveLength(8)
      expect(page.entries.at(-1)?.actor).toBe('actor-4')
      expect(scenario.api.counters().audit_dropped_total).toBe(4)
    },
  )

  it.runIf(durable)(
    '[O-WB-3] counts what was abandoned at the shutdown as dropped, too',
    async () => {
      const [queue] = scenario.api.queues
      const { list } = await openReader(scenario)
      await fail(scenario, numbered(10))
      expect((await list()).dropped_total).toBe(3)
      await queue?.drain(0)
      await fail(scenario, ['late-1', 'late-2'])
      expect(queue?.counts()).toMatchObject({ added: 13, written: 8, dropped: 3, abandoned: 2 })
      expect((await list()).dropped_total).toBe(5)
      expect(scenario.api.counters().audit_dropped_total).toBe(5)
    },
  )

  it.runIf(durable)('[O-DB-3] outlives a restart, which the ring does not', async () => {
    await fail(scenario, ['before'])
    await scenario.api.queues[0]?.flush(2000)
    // Within one millisecond the ids of two boots are in no order.
    await scenario.clock.advance(1)
    await scenario.restart()
    const { list } = await openReader(scenario)
    const page = await list()
    expect(page.entries.map(({ actor }) => actor)).toEqual(['admin', 'before'])
    expect(page.retained).toBe(1)
  })

  it.runIf(durable)(
    '[H-AUD-9] [O-AUD-4] drops what is past its retention, oldest first',
    async () => {
      const prune = scenario.api.pruner('audit_entries')
      for (const actor of ['first', 'second', 'third']) {
        await fail(scenario, [actor])
        await scenario.clock.advance(1000)
      }
      await scenario.api.queues[0]?.flush(2000)
      await scenario.clock.advance(2 * day - 3000)
      expect(await prune(10)).toBe(0)
      await scenario.clock.advance(2000)
      // What is not sealed yet stays: removing it would leave no trace.
      expect(await prune(1)).toBe(0)
      await sealerOn(scenario.db, scenario.clock).seal()
      expect(await prune(1)).toBe(1)
      const rows = await scenario.rowsOf('audit_entries')
      expect(rows.map(({ actor }) => actor).sort()).toEqual(['second', 'third'])
      expect(await prune(10)).toBe(1)
      expect(await prune(10)).toBe(0)
    },
  )
})

describe.each(testBackends)('what the audit trail keeps on $name', (backend) => {
  const durable = backend.name !== 'in-memory'
  let scenario: Scenario
  beforeEach(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  /** A recorder and the trail behind it, as a node has them. */
  function openTrail() {
    const { clock, db } = scenario
    const ids = createIds({ clock, nodeId: 'dev-1', bootId: newBootId() })
    const waiting: RecordedEvent[] = []
    const enqueue = (event: RecordedEvent) => void waiting.push(event)
    const recorder = createAuditRecorder({ clock, ids, ringCapacity: 10, enqueue })
    const write = createTrailWriter({ db, nodeId: 'dev-1' })
    const queue = { flush: () => write(waiting.splice(0)), dropped: () => 0 }
    const audit = createAudit({ db, clock, recorder, retentionDays: 1, queue })
    return { recorder, write, audit }
  }

  it('[H-AUD-1] gives back every field of an entry, and no field that it does not have', async () => {
    const { recorder, audit } = openTrail()
    const id = '0'.repeat(32)
    const key = { actor_type: 'api_key', actor: id, role: 'api_key', credential_id: id } as const
    const script = { actor_type: 'script', actor: 'game', role: '-', match_id: 'mt1-1' } as const
    const events: AuditEvent[] = [
      {
        ...key,
        key_name: 'ci',
        scopes: [...scopes],
        action: 'console.read',
        target: '/x',
        details: '',
      },
      { ...script, action: 'storage.write', target: '-', details: 'ok' },
    ]
    for (const event of events) recorder.record(event)
    const time_unix_ms = scenario.clock.nowUnixMs()
    const expected = events.map((event) => ({ ...event, time_unix_ms })).reverse()
    expect((await audit.list({ limit: 10 })).entries).toEqual(expected)
    const ofMatch = (await audit.list({ limit: 10, match_id: 'mt1-1' })).entries
    expect(ofMatch.map(({ actor }) => actor)).toEqual(durable ? ['game'] : [])
  })

  it('[H-AUD-7] keeps ring-only entries out of the durable trail', async () => {
    const { recorder, audit } = openTrail()
    const reader = { actor_type: 'human', actor: 'reader', role: 'viewer' } as const
    const read = { ...reader, action: 'logs.list', target: 'logs', details: 'returned=1' } as const
    recorder.record(read, { ringOnly: true })
    const page = await audit.list({ limit: 10 })
    expect(page.entries).toHaveLength(durable ? 0 : 1)
    expect(page.retained).toBe(1)
  })

  it('[O-WB-2] writes a repeated batch once', async () => {
    const { recorder, write, audit } = openTrail()
    const actor = { actor_type: 'human', actor: 'twice', role: 'admin' } as const
    const event = { ...actor, action: 'groups.create', target: '1', details: '' } as const
    const batch = [recorder.prepare(event), recorder.prepare(event)]
    await write(batch)
    await write(batch)
    expect((await audit.list({ limit: 10 })).entries).toHaveLength(durable ? 2 : 0)
    await sealerOn(scenario.db, scenario.clock).seal()
    await write(batch)
    expect((await audit.list({ limit: 10 })).entries).toHaveLength(durable ? 2 : 0)
    await sealerOn(scenario.db, scenario.clock).seal()
    expect(await scenario.countRows('audit_entries')).toBe(2)
  })
})
