import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type LagReport, lagApi, matchRecordsApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { createCaller } from '../../testing/api.ts'
import { type Operator, openOperator, openViewer } from '../../testing/operator.ts'
import { filters, type LagScenario, openLag } from './lag.fixture.ts'
import { matchOfRoom } from './recording.fake.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const hourMs = 3_600_000

describe.each(durable)('reports on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  async function reports(operator: Operator = lag.operator): Promise<LagReport[]> {
    return lagApi.reports.ok.parse((await operator.send('GET', '/lag/reports')).body).items
  }
  const statuses = async () => (await reports()).map(({ status }) => status)
  const analyse = () => lag.api.runTask('lag-analysis')

  /** Asks for a report again while the analysis runs. */
  async function regenerate(captureId: string, body: object) {
    const path = `/lag/captures/${captureId}/regenerate`
    const asked = lag.operator.send('POST', path, body)
    let isAnswered = false
    void asked.then(() => {
      isAnswered = true
    })
    await expect
      .poll(async () => {
        await analyse()
        return isAnswered
      })
      .toBe(true)
    return asked
  }

  /** Adds as many reports, older ones by their ids, beside the one that there is. */
  async function copyReport(count: number): Promise<void> {
    const copy = statement({
      name: 'test.copy-report',
      text: `INSERT INTO lag_reports SELECT 'lr1-' || :id, capture_id, handle, generation,
        decoder_version, analyzer_version, :id, send_rate_hz, max_windows, status, node_id,
        participant, label, created_at_unix_ms, queued_at_unix_ms, runs, server_json, result_json,
        windows_json FROM lag_reports WHERE options_hash LIKE 'a461%'`,
      params: { id: 'text' },
    })
    for (let number = 1; number <= count; number += 1) {
      await lag.db.transaction((tx) => tx.run(copy, { id: String(number).padStart(24, '0') }))
    }
  }

  it('[L-EX-1] [L-AN-2] [L-CON-1] [L-SRV-1] a recording becomes a report', async () => {
    lag.recording.join(1)
    const { capture_id } = await lag.start({ label: 'arena', send_rate_hz: 20 })
    lag.recording.say(1, { capture_id })
    for (let sent = 0; sent < 3; sent += 1) {
      lag.recording.observers.get(1)?.queued(100, false, 3)
      await lag.clock.advance(50)
    }
    await lag.flush(capture_id)
    expect(lag.recording.observers.size).toBe(0)
    expect((await lag.upload(1)).status).toBe(204)
    const [pending] = await reports()
    expect(pending).toMatchObject({
      status: 'pending',
      quality: null,
      summaries: [],
      span_us: null,
    })
    await analyse()
    const [report] = await reports()
    expect(report).toMatchObject({
      report_id: expect.stringMatching(/^lr1-[0-9a-f]{24}$/),
      capture_id,
      generation: 1,
      decoder_version: 1,
      analyzer_version: 1,
      status: 'complete',
      raw_available: true,
      label: 'arena',
      participant: 1,
      started_at_unix_us: 1_700_000_000_000_000,
      span_us: 50_401,
      clock_uncertainty_us: 1500,
      truncated: false,
      quality: { status: 'complete', sample_count: 2, clock_uncertain: false },
    })
    expect(report?.summaries).toMatchObject([
      { mean_interarrival_us: 50_400, cadence_residual_p95_us: 400, quality: 'few_samples' },
    ])
    expect(report?.server).toMatchObject([
      { mean_interarrival_us: 50_000, key: { packet_kind: 100, direction: 'inbound' } },
    ])
    const one = await lag.operator.send('GET', `/lag/reports/${report?.report_id}`)
    expect(one.body).toEqual(report)
    const windows = await lag.operator.send('GET', `/lag/reports/${report?.report_id}/windows`)
    expect(lagApi.windows.ok.parse(windows.body)).toMatchObject({
      windows: [
        { sample_count: 1, start_elapsed_us: 50_000 },
        { sample_count: 1, mean_interarrival_us: 50_400, end_elapsed_us: 100_401 },
      ],
      truncated: false,
    })
  })

  it('[L-OUT-1] no analysis unless it was asked for; a restart takes pending ones up', async () => {
    await lag.recorded(undefined, { analyze: false })
    expect(await statuses()).toEqual(['no_analysis'])
    await analyse()
    expect(await statuses()).toEqual(['no_analysis'])
    await lag.clock.advance(1)
    await lag.recorded()
    await lag.restart()
    await analyse()
    expect(await statuses()).toEqual(['complete', 'no_analysis'])
  })

  it('[L-AN-2] [L-OUT-1] bytes that are gone or broken make a report fail', async () => {
    const { handle } = await lag.recorded()
    rmSync(join(lag.rawRoot, handle.slice(-2), handle))
    for (const status of ['pending', 'pending', 'failed']) {
      await analyse()
      expect(await statuses()).toEqual([status])
    }
    await lag.clock.advance(1)
    const second = await lag.recorded()
    writeFileSync(join(lag.rawRoot, second.handle.slice(-2), second.handle), 'no gzip')
    await analyse()
    expect(await statuses()).toEqual(['failed', 'failed'])
  })

  it('[L-CON-4] [L-OUT-1] regenerates with the same options, and with others', async () => {
    const { capture_id, handle } = await lag.recorded(undefined, { analyze: false })
    const same = await regenerate(capture_id, { handle })
    const [first] = await reports()
    expect([same.status, same.body]).toEqual([
      200,
      { outcome: 'complete', report_id: first?.report_id },
    ])
    expect(await statuses()).toEqual(['complete'])
    await lag.clock.advance(1)
    const other = await regenerate(capture_id, { handle, options: { send_rate_hz: 20 } })
    expect(other.body).toMatchObject({ outcome: 'complete' })
    expect((await reports()).map(({ summaries }) => summaries[0]?.cadence_residual_p95_us)).toEqual(
      [400, null],
    )
    const path = `/lag/captures/${capture_id}/regenerate`
    const late = lag.operator.send('POST', path, { handle, options: { max_windows: 2 } })
    await expect.poll(statuses).toContain('pending')
    const joined = await lag.operator.send('POST', path, { handle, options: { max_windows: 2 } })
    expect(joined.body).toMatchObject({ outcome: 'joined' })
    let reached: unknown
    void late.then(({ body }) => {
      reached = body
    })
    await expect
      .poll(async () => {
        await lag.clock.advance(10_000)
        return reached
      })
      .toMatchObject({ outcome: 'joined' })
    expect(await lag.operator.trailOf(capture_id)).toEqual(
      expect.arrayContaining([
        ['lag.regenerate', 'outcome=complete'],
        ['lag.regenerate', 'outcome=joined'],
      ]),
    )
  })

  it('[L-CON-4] with 64 pending reports it is busy, and nothing changes', async () => {
    const { capture_id, handle } = await lag.recorded()
    await copyReport(63)
    const body = { handle, options: { send_rate_hz: 30 } }
    const answer = await lag.operator.send('POST', `/lag/captures/${capture_id}/regenerate`, body)
    expect([answer.status, answer.body]).toEqual([200, { outcome: 'busy' }])
  })

  it('[H-LAG-7] [L-OUT-1] raw bytes are downloaded as they came, deleted once; reports stay', async () => {
    const { capture_id, handle } = await lag.recorded()
    await analyse()
    const path = `/lag/captures/${capture_id}/raw/${handle}`
    const answer = await fetch(`${lag.api.url}/console/v1${path}`, {
      headers: { authorization: `Bearer ${lag.operator.token}` },
    })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'cache-control': 'no-store',
    })
    expect(answer.headers.get('content-encoding')).toBeNull()
    const bytes = new Uint8Array(await answer.arrayBuffer())
    expect(gunzipSync(bytes)).toHaveLength(128 + 2 * 48)
    expect((await lag.operator.send('DELETE', path)).status).toBe(204)
    expect((await lag.operator.send('DELETE', path)).status).toBe(404)
    expect((await lag.operator.send('GET', path)).status).toBe(404)
    expect(lag.files()).toEqual([])
    expect(await reports()).toMatchObject([{ status: 'complete', raw_available: false }])
    const again = await lag.operator.send('POST', `/lag/captures/${capture_id}/regenerate`, {
      handle,
    })
    expect(again.status).toBe(409)
    expect(await lag.operator.trailOf(capture_id)).toEqual(
      expect.arrayContaining([
        ['lag.raw.list', 'outcome=ok'],
        ['lag.raw.download', 'outcome=ok'],
        ['lag.raw.delete', 'outcome=ok'],
        ['lag.raw.delete', 'outcome=not_found'],
        ['lag.raw.download', 'outcome=not_found'],
        ['lag.regenerate', 'outcome=conflict'],
      ]),
    )
  })

  it('[H-LAG-8] [L-CON-2] [L-CON-3] [L-CON-5] viewers are refused before anything is looked at, and audited', async () => {
    const { capture_id, handle } = await lag.recorded()
    const viewer = await openViewer(lag.api)
    const base = `/lag/captures/${capture_id}`
    const routes: [method: string, path: string, body?: unknown][] = [
      ['GET', `${base}/raw?nonsense=1`],
      ['GET', `${base}/raw/${handle}`],
      ['DELETE', `${base}/raw/none`],
      ['POST', `${base}/regenerate`, 'no json'],
    ]
    for (const [method, path, body] of routes) {
      expect((await viewer.send(method, path, body)).status, path).toBe(403)
    }
    const [seen] = await reports(viewer)
    expect(seen).not.toHaveProperty('raw_available')
    const captures = await viewer.send('GET', '/lag/captures')
    expect(captures.text).not.toContain('raw')
    expect((await lag.operator.send('GET', `${base}/raw?nonsense=1`)).status).toBe(400)
    const unknown = `/lag/captures/${'f'.repeat(32)}`
    expect((await lag.operator.send('GET', `${unknown}/raw`)).status).toBe(404)
    const wrong = { handle: 'none' }
    expect((await lag.operator.send('POST', `${base}/regenerate`, wrong)).status).toBe(400)
    expect(await lag.operator.trailOf('capture')).toEqual([
      ['lag.raw.list', 'outcome=forbidden'],
      ['lag.raw.download', 'outcome=forbidden'],
      ['lag.raw.delete', 'outcome=forbidden'],
      ['lag.regenerate', 'outcome=forbidden'],
      ['lag.raw.list', 'outcome=invalid'],
      ['lag.raw.list', 'outcome=not_found'],
      ['lag.regenerate', 'outcome=invalid'],
    ])
  })

  it('[H-AUTH-5] [L-CON-3] an API key may use none of the routes', async () => {
    const made = await lag.operator.send('POST', '/api-keys', {
      name: 'ci',
      scopes: ['matches:read', 'telemetry:read'],
    })
    expect(made.status).toBe(201)
    const { secret } = made.body as { secret: string }
    const call = createCaller(lag.api.url)
    const { capture_id, handle } = await lag.recorded()
    const [report] = await reports()
    for (const { method, path } of Object.values(lagApi)) {
      const own = path
        .replace('{report_id}', report?.report_id ?? '')
        .replace('{capture_id}', capture_id)
        .replace('{handle}', handle)
      const answer = await call(method, own, { token: secret })
      expect(answer.status, `${method} ${path}`).toBe(403)
    }
    expect(lag.files()).toHaveLength(1)
  })

  it('[L-CON-3] pages go by id, and what is malformed is refused', async () => {
    for (let count = 0; count < 3; count += 1) {
      await lag.recorded()
      await lag.clock.advance(1)
    }
    for (const [path, id] of [
      ['/lag/reports', 'report_id'],
      ['/lag/captures', 'capture_id'],
    ] as const) {
      const ids: unknown[] = []
      let after = ''
      do {
        const { body } = await lag.operator.send('GET', `${path}?limit=2${after}`)
        const page = body as { items: Record<string, unknown>[]; next_after?: string }
        ids.push(...page.items.map((item) => item[id]))
        after = page.next_after === undefined ? '' : `&after=${page.next_after}`
      } while (after !== '')
      expect(ids).toHaveLength(3)
      expect(ids.map(String).toSorted().toReversed()).toEqual(ids)
      for (const query of ['after=x', 'limit=x', 'more=1', 'limit=1&limit=2']) {
        expect((await lag.operator.send('GET', `${path}?${query}`)).status, query).toBe(400)
      }
    }
    for (const id of ['x', `lr1-${'0'.repeat(24)}`, `LR1-${'0'.repeat(24)}`]) {
      expect((await lag.operator.send('GET', `/lag/reports/${id}`)).status).toBe(404)
      expect((await lag.operator.send('GET', `/lag/reports/${id}/windows`)).status).toBe(404)
    }
  })

  it('[L-RET-1] raw bytes go after their hours, reports and captures after their days', async () => {
    await lag.restart({ 'lag_diagnostics.retention_hours': '1' })
    await lag.recorded()
    await analyse()
    const prune = async () => {
      await lag.api.runTask('lag-retention')
      await lag.api.pruner('lag_reports')(100)
      await lag.api.pruner('lag_captures')(100)
    }
    await lag.clock.advance(hourMs - 1)
    await prune()
    expect(lag.files()).toHaveLength(1)
    await lag.clock.advance(1)
    await prune()
    const later = await openOperator(lag.api)
    expect(lag.files()).toEqual([])
    expect(await reports(later)).toMatchObject([{ status: 'complete' }])
    await lag.clock.advance(90 * 24 * hourMs)
    lag.recording.leave(1)
    const operator = await openOperator(lag.api)
    await prune()
    const captures = await operator.send('GET', '/lag/captures')
    expect([await reports(operator), captures.body]).toEqual([[], { items: [] }])
  })

  it('[L-RET-2] a boot removes what crashes left: staged files, files and rows alone', async () => {
    const kept = await lag.recorded()
    await lag.clock.advance(1)
    const lost = await lag.recorded()
    await analyse()
    rmSync(join(lag.rawRoot, lost.handle.slice(-2), lost.handle))
    const alone = `lc1-${'0'.repeat(30)}${kept.handle.slice(-2)}`
    writeFileSync(join(lag.rawRoot, kept.handle.slice(-2), alone), 'x')
    writeFileSync(join(lag.rawRoot, 'staging', alone), 'x')
    writeFileSync(join(lag.rawRoot, 'notes.txt'), 'of somebody else')
    await lag.restart()
    expect(lag.files()).toEqual([`${kept.handle.slice(-2)}/${kept.handle}`, 'notes.txt'])
    expect((await reports()).map(({ raw_available }) => raw_available)).toEqual([false, true])
  })

  it('[L-CON-6] a match lists the reports of captures that were started for its room', async () => {
    const insert = statement({
      name: 'test.match',
      text: `INSERT INTO match_records (match_id, node_id, boot_id, room_id, name, map, mode,
        max_players, opened_at_unix_ms, peak_participants, join_total)
        VALUES (:match_id, 'n', 'b', 7, 'r', 'm', '', 0, 1, 1, 1)`,
      params: { match_id: 'text' },
    })
    await lag.db.transaction((tx) => tx.run(insert, { match_id: matchOfRoom }))
    lag.recording.join(1)
    const { capture_id } = await lag.recorded(undefined, { participants: undefined, room_id: 7 })
    const answer = await lag.operator.send('GET', `/matchlogs/${matchOfRoom}/entries`)
    const { lag_reports, counts } = matchRecordsApi.entries.ok.parse(answer.body)
    expect(lag_reports).toMatchObject([{ capture_id, status: 'pending' }])
    expect(counts.lag_reports).toBe(1)
    await copyReport(50)
    const many = matchRecordsApi.entries.ok.parse(
      (await lag.operator.send('GET', `/matchlogs/${matchOfRoom}/entries`)).body,
    )
    expect(many.counts.lag_reports).toBe(51)
    const ids = many.lag_reports.map(({ report_id }) => report_id)
    expect(ids).toHaveLength(50)
    expect(ids).toEqual(ids.toSorted().toReversed())
    expect(ids[0]).toBe(lag_reports[0]?.report_id)
  })
})

it('[L-GEN-4] [H-LAG-10] in memory lists are empty and everything else is not there', async () => {
  const [memory] = testBackends
  if (memory === undefined) throw new Error('no backend')
  const lag = await openLag(memory, {
    'lag_diagnostics.enabled': 'false',
    'database.url': 'memory:',
  })
  try {
    for (const path of ['/lag/reports', '/lag/captures']) {
      expect((await lag.operator.send('GET', path)).body).toEqual({ items: [] })
    }
    const id = 'a'.repeat(32)
    for (const path of [`/lag/reports/lr1-${id.slice(8)}`, `/lag/captures/${id}/raw`]) {
      expect((await lag.operator.send('GET', path)).status).toBe(404)
    }
    const start = { participants: [1], filters, duration_ms: 1000 }
    expect(await lag.rpc('lag.start', start)).toMatchObject({ error: 'unavailable' })
  } finally {
    await lag.dispose()
  }
})
