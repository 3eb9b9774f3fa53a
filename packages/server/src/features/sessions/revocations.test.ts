import { beforeAll, describe, expect, it } from 'vitest'
import { batchStatement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { createRevocationReader } from './sessions.jobs.ts'

describe.each(testBackends)('the feed of revoked sessions on $name', (backend) => {
  let scenario: Scenario
  /** Numbers of a test's own, far from those of the others. */
  let base = 0
  beforeAll(async () => {
    scenario = await openScenario(backend)
    return () => scenario.dispose()
  })

  /** A reader that has caught up with the feed, and what it reports from then on. */
  async function caughtUp() {
    base += 1_000_000
    await announce(base)
    const seen: string[] = []
    const read = createRevocationReader(scenario.db, scenario.clock, (ids) => seen.push(...ids))
    await read()
    await scenario.clock.advance(30_000)
    await read()
    seen.splice(0)
    return {
      async seen() {
        await read()
        return seen.splice(0)
      },
    }
  }

  const announce = async (...seqs: number[]) => {
    const now_unix_ms = scenario.clock.nowUnixMs()
    const rows = seqs.map((seq) => ({ seq, session_id: `s${seq - base}`, now_unix_ms }))
    await scenario.db.each(insertRevocations, rows)
  }

  it('[R-REV-2] reports a logout on another node exactly once', async () => {
    const seen: string[][] = []
    const read = createRevocationReader(scenario.db, scenario.clock, (ids) => seen.push([...ids]))
    await read()
    seen.splice(0)
    const other = await scenario.openNode()
    const player = await scenario.signUp()
    await other.call('POST', '/v1/session/logout', { token: player.token })
    await read()
    await read()
    const [row] = await scenario.rowsOf('sessions', `account_id = '${player.user_id}'`)
    expect(seen).toEqual([[row?.id]])
    expect(other.revoked).toEqual([row?.id])
    expect(scenario.api.revoked).toEqual([])
  })

  it('[R-REV-2] reports at its first reading what was revoked since the handshakes began', async () => {
    await scenario.api.call('POST', '/v1/session/logout', {
      token: (await scenario.signUp()).token,
    })
    const seen: string[] = []
    const read = createRevocationReader(scenario.db, scenario.clock, (ids) => seen.push(...ids))
    await read()
    expect(seen).toContain(scenario.api.revoked.at(-1))
    expect(new Set(seen).size).toBe(seen.length)
  })

  it('[R-REV-2] reports each entry once, in the order of the feed', async () => {
    const reader = await caughtUp()
    await announce(base + 1, base + 2)
    expect(await reader.seen()).toEqual(['s1', 's2'])
    expect(await reader.seen()).toEqual([])
    await announce(base + 3)
    expect(await reader.seen()).toEqual(['s3'])
  })

  it('[R-REV-2] reports an entry that becomes visible behind later ones', async () => {
    const reader = await caughtUp()
    await announce(base + 1, base + 3, base + 7)
    expect(await reader.seen()).toEqual(['s1', 's3', 's7'])
    await scenario.clock.advance(20_000)
    await announce(base + 5)
    expect(await reader.seen()).toEqual(['s5'])
    await scenario.clock.advance(9_999)
    await announce(base + 2, base + 6)
    expect(await reader.seen()).toEqual(['s2', 's6'])
    await announce(base + 4, base + 8)
    expect(await reader.seen()).toEqual(['s4', 's8'])
    await scenario.clock.advance(60_000)
    expect(await reader.seen()).toEqual([])
    await announce(base + 9)
    expect(await reader.seen()).toEqual(['s9'])
  })

  it('[R-REV-2] reports all of a feed that is longer than one page, and goes on behind it', async () => {
    const reader = await caughtUp()
    const seqs = Array.from({ length: 10_500 }, (_, index) => base + 2 * index + 1)
    await announce(...seqs)
    expect((await reader.seen()).length).toBe(10_500)
    await announce(base + 30_000)
    expect(await reader.seen()).toEqual(['s30000'])
  })

  it('[O-DB-3] keeps entries for ten minutes', async () => {
    const prune = scenario.api.pruner('session_revocations')
    await scenario.clock.advance(1)
    const earlier = await scenario.countRows('session_revocations')
    base += 1_000_000
    await announce(base + 1)
    await scenario.clock.advance(600_000)
    await announce(base + 2)
    expect(await prune(1_000_000)).toBe(earlier)
    await scenario.clock.advance(1)
    expect(await prune(1_000_000)).toBe(1)
    expect(await scenario.countRows('session_revocations')).toBe(1)
  })
})

describe.each(testBackends)('the retention of sessions on $name', (backend) => {
  it('[O-DB-3] keeps sessions until a day after they expired or were revoked', async () => {
    const scenario = await openScenario(backend, { 'sessions.revoke_on_replay': 'true' })
    const expired = scenario.api.pruner('expired_sessions')
    const revoked = scenario.api.pruner('revoked_sessions')
    const [ended, kept] = [await scenario.signUp(), await scenario.signUp()]
    const body = { refresh_token: kept.refresh_token }
    await scenario.api.call('POST', '/v1/session/refresh', { body })
    expect(await scenario.countRows('rotated_refresh_digests')).toBe(1)
    await scenario.api.call('POST', '/v1/session/logout', { token: ended.token })
    await scenario.clock.advance(86_400_000)
    expect([await expired(10), await revoked(10)]).toEqual([0, 0])
    await scenario.clock.advance(1)
    expect([await expired(10), await revoked(10)]).toEqual([0, 1])
    await scenario.clock.advance(2_592_000_000 - 1)
    expect([await expired(10), await revoked(10)]).toEqual([0, 0])
    await scenario.clock.advance(1)
    expect([await expired(10), await revoked(10)]).toEqual([1, 0])
    expect(await scenario.countRows('rotated_refresh_digests')).toBe(0)
    expect(await scenario.countRows('accounts')).toBe(2)
    await scenario.dispose()
  })
})

/** PostgreSQL draws the numbers itself unless it is given one. */
const insertRevocations = batchStatement({
  name: 'tests.insert-revocations',
  text: `INSERT INTO session_revocations (seq, session_id, revoked_at_unix_ms)
    SELECT r.seq, r.session_id, r.now_unix_ms FROM {{rows}} AS r`,
  params: { seq: 'integer', session_id: 'text', now_unix_ms: 'integer' },
})
