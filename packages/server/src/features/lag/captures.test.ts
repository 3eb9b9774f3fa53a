import { type LagCapture, lagApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { filters, type LagScenario, openLag } from './lag.fixture.ts'
import { matchOfRoom } from './recording.fake.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')

describe.each(durable)('captures on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  const statusesOf = async (captureId: string) => {
    const state = await lag.status(captureId)
    const recorders = state?.recorders.map(({ participant, status }) => `${participant} ${status}`)
    return [state?.state, ...(recorders ?? [])]
  }

  async function listed(): Promise<LagCapture[]> {
    const answer = await lag.operator.send('GET', '/lag/captures')
    return lagApi.captures.ok.parse(answer.body).items
  }

  it('[L-CON-2] [L-START-4] [L-START-5] [L-START-6] [L-FLUSH-3] asks who can record, and stores the capture', async () => {
    lag.recording.join(1)
    lag.recording.join(2, { user_id: null, session_id: null })
    lag.recording.join(3, { canRecord: false })
    const options = { participants: [1, 2, 3, 4, 1], label: 'arena', send_rate_hz: 20 }
    const { capture_id, started, skipped } = await lag.start(options)
    expect(capture_id).toMatch(/^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
    expect([started, skipped]).toEqual([
      [1],
      [
        { participant: 2, reason: 'guest' },
        { participant: 3, reason: 'not_capable' },
        { participant: 4, reason: 'unknown' },
      ],
    ])
    expect(lag.recording.sent.map((each) => each.kinds)).toEqual([[34, 37]])
    const deadline = Math.round(lag.clock.nowUnixMs()) + 10_000
    expect(lag.recording.startOf(1)).toEqual({
      capture_id,
      generation: 1,
      deadline_utc_ms: deadline,
      max_bytes: 4_194_304,
      filters: [{ kind: 100, direction: 'inbound', entity: null }],
    })
    expect(await lag.status(capture_id)).toMatchObject({
      state: 'recording',
      deadline_unix_ms: deadline,
    })
    expect(await listed()).toMatchObject([
      {
        capture_id,
        label: 'arena',
        match_id: null,
        recorders: { offered: 1, recording: 0 },
        report_count: 0,
        latest_report_status: null,
        raw_available: false,
        raw_artifact_count: 0,
        latest_raw_received_at_unix_ms: null,
      },
    ])
    expect(await lag.operator.trailOf(capture_id)).toEqual([
      ['lag.start', 'recorders=1 skipped=3 filters=1'],
    ])
    expect(await lag.operator.trailOf('rpc lag.start')).toEqual([['runtime.rpc', 'ok=true']])
  })

  it('[L-START-3] refuses what is out of bounds, and leaves nothing behind', async () => {
    lag.recording.join(1)
    const whole = { participants: [1], filters, duration_ms: 10_000 }
    const wrong = [
      {},
      { ...whole, participants: undefined },
      { ...whole, room_id: 7 },
      { ...whole, user_ids: ['user-1'] },
      { ...whole, participants: [] },
      { ...whole, filters: [] },
      { ...whole, filters: [...filters, ...filters] },
      {
        ...whole,
        filters: Array.from({ length: 17 }, (_, kind) => ({ kind, direction: 'inbound' })),
      },
      { ...whole, filters: [{ kind: 65_536, direction: 'inbound' }] },
      { ...whole, filters: [{ kind: 1, direction: 'both' }] },
      { ...whole, duration_ms: 999 },
      { ...whole, duration_ms: 1_800_001 },
      { ...whole, duration_ms: 1000.5 },
      { ...whole, max_bytes: 65_535 },
      { ...whole, max_bytes: 67_108_865 },
      { ...whole, label: '' },
      { ...whole, label: 'é'.repeat(33) },
      { ...whole, send_rate_hz: 0 },
      { ...whole, more: 1 },
      'no json',
      '[]',
    ]
    for (const options of wrong) {
      const answer = await lag.rpc('lag.start', options)
      expect(answer, JSON.stringify(options)).toMatchObject({
        ok: false,
        error: 'invalid_argument',
      })
    }
    expect([await listed(), lag.recording.sent]).toEqual([[], []])
  })

  it('[L-START-3] [L-START-4] room and accounts; nobody is not_found, too many limit_exceeded', async () => {
    const start = (whom: object) => lag.rpc('lag.start', { filters, duration_ms: 5000, ...whom })
    expect(await start({ room_id: 7 })).toMatchObject({ ok: false, error: 'not_found' })
    expect(await start({ user_ids: ['user-1'] })).toMatchObject({ error: 'not_found' })
    for (let participant = 1; participant <= 16; participant += 1) lag.recording.join(participant)
    const { started, capture_id } = await lag.start({ participants: undefined, room_id: 7 })
    expect(started).toHaveLength(16)
    expect((await listed())[0]).toMatchObject({ capture_id, match_id: matchOfRoom })
    lag.recording.join(17)
    expect(await start({ room_id: 7 })).toMatchObject({ error: 'limit_exceeded' })
    for (let more = 18; more <= 1000; more += 1) lag.recording.join(more)
    expect(await start({ room_id: 7 })).toMatchObject({ error: 'limit_exceeded' })
    const one = await lag.start({ participants: undefined, user_ids: ['user-17', 'nobody'] })
    expect(one.started).toEqual([17])
    // All of them record for another capture already.
    expect(await start({ participants: [1, 2] })).toMatchObject({ error: 'not_found' })
  })

  it('[L-START-4] no more captures than configured are active', async () => {
    await lag.restart({ 'lag_diagnostics.max_active_captures': '2' })
    for (const participant of [1, 2, 3]) lag.recording.join(participant)
    const first = await lag.start({ participants: [1] })
    await lag.start({ participants: [2] })
    const third = { participants: [3], filters, duration_ms: 5000 }
    expect(await lag.rpc('lag.start', third)).toMatchObject({ error: 'limit_exceeded' })
    lag.recording.say(1, { capture_id: first.capture_id, state: 'failed' })
    expect(await statusesOf(first.capture_id)).toEqual(['expired', '1 failed'])
    expect(await lag.rpc('lag.start', third)).toMatchObject({ ok: true })
  })

  it('[L-LIFE-4] a client that never answers has failed after 10 s; one may fail at any time', async () => {
    for (const participant of [1, 2, 3]) lag.recording.join(participant)
    const { capture_id } = await lag.start({ participants: [1, 2, 3] })
    lag.recording.say(1, { capture_id, packets: 5, dropped: 1, bytes: 240 })
    lag.recording.say(2, { capture_id })
    await lag.clock.advance(9999)
    expect(await statusesOf(capture_id)).toEqual([
      'recording',
      '1 recording',
      '2 recording',
      '3 offered',
    ])
    await lag.clock.advance(1)
    lag.recording.withdraw(2)
    expect(await statusesOf(capture_id)).toEqual([
      'recording',
      '1 recording',
      '2 failed',
      '3 failed',
    ])
    expect((await lag.status(capture_id))?.recorders[0]).toMatchObject({
      packets: 5,
      dropped: 1,
      bytes: 240,
    })
    expect((await listed())[0]?.recorders).toMatchObject({ recording: 1, failed: 2 })
    lag.recording.leave(1)
    expect(await statusesOf(capture_id)).toEqual(['expired', '1 gone', '2 failed', '3 failed'])
  })

  it('[L-FLUSH-1] without a flush a capture expires behind the window', async () => {
    lag.recording.join(1)
    const { capture_id } = await lag.start()
    lag.recording.say(1, { capture_id })
    await lag.clock.advance(10_000 + 59_999)
    expect(await statusesOf(capture_id)).toEqual(['recording', '1 recording'])
    await lag.clock.advance(1)
    expect(await statusesOf(capture_id)).toEqual(['expired', '1 recording'])
    expect(await lag.rpc('lag.flush', { capture_id })).toMatchObject({ error: 'conflict' })
    const unknown = { capture_id: 'f'.repeat(32) }
    expect(await lag.rpc('lag.flush', unknown)).toMatchObject({ error: 'not_found' })
    expect(await lag.status(unknown.capture_id)).toBeNull()
  })

  it('[L-FLUSH-1] [L-FLUSH-4] flushes give eight attempts; missed ones are taken back', async () => {
    for (const participant of [1, 2]) lag.recording.join(participant)
    const { capture_id } = await lag.start({ participants: [1, 2], duration_ms: 1_800_000 })
    const nobody = await lag.flush(capture_id)
    expect(nobody).toEqual({
      attempts: [],
      skipped: [
        { participant: 1, reason: 'not_recording' },
        { participant: 2, reason: 'not_recording' },
      ],
    })
    expect(await statusesOf(capture_id)).toEqual(['recording', '1 offered', '2 offered'])
    lag.recording.say(1, { capture_id })
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      const { attempts, skipped } = await lag.flush(capture_id)
      expect(attempts).toEqual([{ participant: 1, attempt }])
      expect(skipped).toEqual([{ participant: 2, reason: 'not_recording' }])
      expect(lag.recording.flushOf(1)).toMatchObject({
        capture_id,
        attempt,
        path: '/v1/diagnostics/captures/upload',
        max_compressed_bytes: 4_194_304,
        deadline_utc_ms: Math.round(lag.clock.nowUnixMs()) + 60_000,
      })
      await lag.clock.advance(60_000)
      expect((await statusesOf(capture_id))[1]).toBe('1 missed')
    }
    expect((await lag.flush(capture_id)).skipped).toEqual([
      { participant: 1, reason: 'attempts' },
      { participant: 2, reason: 'not_recording' },
    ])
    expect(await lag.operator.trailOf(capture_id)).toContainEqual([
      'lag.flush',
      'asked=1 skipped=1',
    ])
  })

  it('[L-FLUSH-1] takes no flush behind the window, though an upload is still awaited', async () => {
    lag.recording.join(1)
    const { capture_id } = await lag.start()
    lag.recording.say(1, { capture_id })
    await lag.clock.advance(69_999)
    expect((await lag.flush(capture_id)).attempts).toHaveLength(1)
    await lag.clock.advance(1)
    expect(await statusesOf(capture_id)).toEqual(['flushing', '1 flushing'])
    expect(await lag.rpc('lag.flush', { capture_id })).toMatchObject({ error: 'conflict' })
    expect((await lag.upload(1)).status).toBe(204)
  })

  it('[L-FLUSH-3] asks nobody when the flush cannot be audited', async () => {
    lag.recording.join(1)
    const { capture_id } = await lag.start()
    lag.recording.say(1, { capture_id })
    const before = await lag.status(capture_id)
    const spy = vi.spyOn(lag.db, 'transaction').mockRejectedValueOnce(new Error('no database'))
    const answer = await lag.operator.send('POST', '/runtime/rpc/lag.flush', {
      payload: JSON.stringify({ capture_id }),
    })
    spy.mockRestore()
    expect(answer.status).toBe(500)
    expect(await lag.status(capture_id)).toEqual(before)
    expect(lag.recording.sent.map((each) => each.kinds)).toEqual([[34, 37]])
    expect((await lag.flush(capture_id)).attempts).toEqual([{ participant: 1, attempt: 1 }])
  })

  it('[L-START-4] 64 captures are active at once, and not one more', async () => {
    await lag.restart({ 'lag_diagnostics.max_active_captures': '64' })
    for (let participant = 1; participant <= 65; participant += 1) lag.recording.join(participant)
    for (let participant = 1; participant <= 64; participant += 1) {
      await lag.start({ participants: [participant] })
    }
    const more = { participants: [65], filters, duration_ms: 5000 }
    expect(await lag.rpc('lag.start', more)).toMatchObject({ error: 'limit_exceeded' })
    await lag.clock.advance(10_000)
    expect(lag.api.features.lag.counts().captures).toMatchObject({ recording: 0, expired: 64 })
    expect(await lag.rpc('lag.start', more)).toMatchObject({ ok: true })
  })

  it('[L-FLUSH-2] gives no grant that the raw store has no room for', async () => {
    await lag.restart({ 'lag_diagnostics.max_raw_bytes': '1048576' })
    for (const participant of [1, 2]) lag.recording.join(participant)
    const max_bytes = 600_000
    const { capture_id } = await lag.start({ participants: [1, 2], max_bytes })
    for (const participant of [1, 2]) lag.recording.say(participant, { capture_id })
    const before = await lag.status(capture_id)
    expect(await lag.rpc('lag.flush', { capture_id })).toMatchObject({ error: 'limit_exceeded' })
    expect(await lag.status(capture_id)).toEqual(before)
    lag.recording.leave(2)
    expect((await lag.flush(capture_id)).attempts).toHaveLength(1)
    // The room of the grant before is that of its successor.
    expect((await lag.flush(capture_id)).attempts).toEqual([{ participant: 1, attempt: 2 }])
  })

  it('[L-LIFE-2] what an earlier boot left open is sealed if it has a recording, else expired', async () => {
    const { capture_id: kept } = await lag.recorded()
    await lag.clock.advance(1)
    lag.recording.join(2)
    const { capture_id: lost } = await lag.start({ participants: [2] })
    expect(await listed()).toMatchObject([{ state: 'recording' }, { state: 'sealed' }])
    await lag.restart()
    expect(await listed()).toMatchObject([
      { capture_id: lost, state: 'expired' },
      { capture_id: kept, state: 'sealed' },
    ])
    expect(await lag.status(lost)).toBeNull()
  })

  it('[R-DIA-1] says of unknown captures do not count', async () => {
    lag.recording.join(1)
    lag.recording.join(2)
    const { capture_id } = await lag.start()
    expect(lag.recording.say(2, { capture_id })).toBe(false)
    expect(lag.recording.say(1, { capture_id: 'a'.repeat(32) })).toBe(false)
    expect(lag.recording.say(1, { capture_id, generation: 2 })).toBe(false)
    expect(lag.recording.say(1, { capture_id })).toBe(true)
  })

  it('[L-GEN-1] [L-START-6] console_start false and captures that are off are refused', async () => {
    await lag.restart({ 'lag_diagnostics.console_start': 'false' })
    lag.recording.join(1)
    const options = { participants: [1], filters, duration_ms: 5000 }
    expect(await lag.rpc('lag.start', options)).toMatchObject({ ok: false, error: 'unavailable' })
    await lag.restart({ 'lag_diagnostics.enabled': 'false' })
    expect(await lag.rpc('lag.start', options)).toMatchObject({ ok: false, error: 'unavailable' })
  })
})
