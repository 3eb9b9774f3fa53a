import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { artifact } from './analysis/artifact.fixture.ts'
import { type HalfUpload, halfUpload } from './half-upload.fixture.ts'
import { type LagScenario, openLag, uploadPath } from './lag.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const dropReports = statement({ name: 'test.drop', text: 'DROP TABLE lag_reports', params: {} })
const refusal = '{"code":"not_found","message":"not found"}'

describe.each(durable)('uploads on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  /** A recorder that was asked to upload. */
  async function flushed(participant = 1): Promise<string> {
    lag.recording.join(participant)
    const { capture_id } = await lag.start({
      participants: [participant],
      duration_ms: 600_000,
    })
    lag.recording.say(participant, { capture_id })
    await lag.flush(capture_id)
    return capture_id
  }

  const results = () => {
    const { uploads } = lag.api.features.lag.counts()
    return Object.fromEntries([...uploads].filter(([, count]) => count > 0))
  }

  async function expectRefused(answer: Promise<Response>): Promise<void> {
    const response = await answer
    expect([response.status, await response.text()]).toEqual([404, refusal])
    expect(lag.files()).toEqual([])
  }

  async function rows(): Promise<number> {
    const answer = await lag.operator.send('GET', '/lag/reports')
    return (answer.body as { items: unknown[] }).items.length
  }

  it('[L-UP-1] [L-UP-5] are published once, as a file and two rows', async () => {
    const capture_id = await flushed()
    const answer = await lag.upload(1)
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(lag.files()).toEqual([expect.stringMatching(/^[0-9a-f]{2}\/lc1-[0-9a-f]{32}$/)])
    const [file = ''] = lag.files()
    expect(file.slice(0, 2)).toBe(file.slice(-2))
    expect(await lag.status(capture_id)).toMatchObject({
      state: 'sealed',
      recorders: [{ status: 'uploaded', attempt: 1 }],
    })
    // What the client says afterwards is known, and changes nothing.
    expect(lag.recording.say(1, { capture_id, state: 'uploaded' })).toBe(true)
    const again = await lag.upload(1)
    expect([again.status, await again.text()]).toEqual([404, refusal])
    expect(lag.files()).toHaveLength(1)
    expect(results()).toEqual({ ok: 1, token: 1 })
  })

  it('[L-TOK-3] [L-UP-2] a token is used by a failed upload, too', async () => {
    await flushed()
    await expectRefused(lag.upload(1, { body: new Uint8Array(5) }))
    await expectRefused(lag.upload(1))
    expect(results()).toEqual({ gzip: 1, token: 1 })
  })

  it('[L-TOK-3] [L-TOK-4] forged, foreign, old and late tokens are refused alike', async () => {
    const capture_id = await flushed()
    const { token } = lag.recording.flushOf(1)
    for (const at of [0, 4, 10, 60, 110, 115, 130, token.length - 1]) {
      const letter = token[at] === 'A' ? 'B' : 'A'
      const forged = token.slice(0, at) + letter + token.slice(at + 1)
      await expectRefused(lag.upload(1, { token: forged }))
    }
    await expectRefused(lag.upload(1, { headers: { authorization: '' } }))
    const query = `${lag.api.url}${uploadPath}?token=${token}`
    await expectRefused(fetch(query, { method: 'POST', body: token }))
    await lag.flush(capture_id)
    await expectRefused(lag.upload(1, { token }))
    await lag.clock.advance(60_000)
    await expectRefused(lag.upload(1))
    const fresh = (await lag.flush(capture_id)) && lag.recording.flushOf(1).token
    const { upload } = lag
    await lag.restart()
    lag.recording.join(1)
    const other = await lag.start()
    lag.recording.say(1, other)
    await lag.flush(other.capture_id)
    await expectRefused(upload(1, { token: fresh }))
    expect((await lag.upload(1)).status).toBe(204)
  })

  it('[L-LIFE-1] [L-LIFE-4] a connection that ends or a withdrawal voids an unused grant', async () => {
    await flushed(1)
    lag.recording.leave(1)
    await expectRefused(lag.upload(1))
    await flushed(2)
    lag.recording.withdraw(2)
    await expectRefused(lag.upload(2))
    expect(results()).toEqual({ token: 2 })
  })

  const good = (capture_id: string) =>
    artifact({ records: [{ elapsed_us: 1 }, { elapsed_us: 2 }], header: { capture_id } })
  const changed = (at: number, byte: number) => (capture_id: string) => {
    const bytes = good(capture_id)
    bytes[at] = byte
    return bytes
  }
  const malformed: [what: string, make: (captureId: string) => Uint8Array][] = [
    ['nothing', () => new Uint8Array(0)],
    ['a header that is cut', (id) => good(id).subarray(0, 127)],
    ['a record that is cut', (id) => good(id).subarray(0, -1)],
    ['a byte behind', (id) => Buffer.concat([good(id), Buffer.of(0)])],
    ['a record less than it says', (id) => good(id).subarray(0, -48)],
    ['another magic', changed(0, 0x44)],
    ['another version', changed(5, 2)],
    ['another header size', changed(7, 127)],
    ['another record size', changed(9, 47)],
    ['no metadata flag', changed(11, 4)],
    ['an unknown flag', changed(11, 9)],
    ['a count that is too large', changed(15, 3)],
    ['counts that do not add up', changed(23, 3)],
    ['a count beyond 2^53', changed(24, 0xff)],
    ['another capture', changed(48, 0)],
    ['another generation', changed(67, 2)],
  ]
  it.each(malformed)('[L-ART-2] %s is no artifact', async (_what, make) => {
    const capture_id = await flushed()
    const body = new Uint8Array(gzipSync(make(capture_id)))
    await expectRefused(lag.upload(1, { body }))
    expect(results()).toEqual({ format: 1 })
    expect(await rows()).toBe(0)
  })

  it.each([
    ['another type', { 'content-type': 'application/json' }],
    ['no encoding', { 'content-encoding': 'identity' }],
  ])('[L-UP-1] %s is refused', async (_what, headers) => {
    await flushed()
    await expectRefused(lag.upload(1, { headers }))
    expect(results()).toEqual({ type: 1 })
  })

  it('[L-UP-3] what is too large, as it comes or unpacked, is cut off', async () => {
    await lag.restart({ 'lag_diagnostics.max_compressed_bytes': '2048' })
    await flushed(1)
    const noise = Uint8Array.from({ length: 4000 }, (_, at) => (at * at * 31 + at * 7) % 251)
    await expectRefused(lag.upload(1, { body: new Uint8Array(gzipSync(noise, { level: 0 })) }))
    lag.recording.join(2)
    const { capture_id } = await lag.start({ participants: [2], max_bytes: 65_536 })
    lag.recording.say(2, { capture_id })
    await lag.flush(capture_id)
    const bomb = gzipSync(new Uint8Array(1_000_000), { level: 9 })
    await expectRefused(lag.upload(2, { body: new Uint8Array(bomb) }))
    expect(results()).toEqual({ size: 2 })
  })

  it('[L-FLUSH-2] [L-UP-7] one that is packed badly takes more room than was kept, or is refused', async () => {
    await lag.restart({ 'lag_diagnostics.max_raw_bytes': '1048576' })
    for (const participant of [1, 2]) {
      lag.recording.join(participant)
      const { capture_id } = await lag.start({ participants: [participant], max_bytes: 65_536 })
      lag.recording.say(participant, { capture_id })
      await lag.flush(capture_id)
      const body = padded(gzipSync(good(capture_id)), 700_000)
      expect((await lag.upload(participant, { body })).status).toBe(participant === 1 ? 204 : 404)
    }
    expect(results()).toEqual({ ok: 1, quota: 1 })
    expect([lag.files().length, await rows()]).toEqual([1, 1])
  })

  it('[L-UP-1] a body in pieces of no announced length is taken', async () => {
    const capture_id = await flushed()
    const whole = gzipSync(good(capture_id))
    let at = 0
    const body = new ReadableStream({
      pull(controller) {
        if (at === whole.length) return controller.close()
        controller.enqueue(whole.subarray(at, at + 1))
        at += 1
      },
    })
    expect((await lag.upload(1, { body })).status).toBe(204)
  })

  it('[L-UP-4] [L-UP-7] four uploads run at once, and a fifth is refused', async () => {
    const slow: HalfUpload[] = []
    for (let participant = 1; participant <= 5; participant += 1) {
      await flushed(participant)
      const { token } = lag.recording.flushOf(participant)
      slow.push(halfUpload(lag.api.url, token, Buffer.alloc(500), Buffer.from([0x1f, 0x8b])))
      await expect.poll(() => lag.files().length).toBe(Math.min(participant, 4))
    }
    await expect.poll(() => slow[4]?.answer()).toContain(refusal)
    expect(results()).toEqual({ busy: 1 })
    for (const { socket } of slow) socket.destroy()
    await expect.poll(results).toEqual({ busy: 1, gzip: 4 })
    expect(lag.api.features.lag.counts().captures).toMatchObject({ flushing: 5 })
  })

  it('[L-UP-4] after 20 failures in a minute a source is refused until the minute ends', async () => {
    const capture_id = await flushed()
    for (let failure = 0; failure < 20; failure += 1) {
      await expectRefused(lag.upload(1, { token: 'none' }))
    }
    await expectRefused(lag.upload(1))
    expect(results()).toEqual({ token: 20, throttled: 1 })
    await lag.clock.advance(60_000)
    await lag.flush(capture_id)
    expect((await lag.upload(1)).status).toBe(204)
  })

  it('[L-UP-3] [L-UP-4] slow uploads end, and one more than may run at once is refused', async () => {
    await lag.restart({ 'lag_diagnostics.max_concurrent_uploads': '1' })
    const capture_id = await flushed()
    const { token } = lag.recording.flushOf(1)
    const begun = Buffer.from([0x1f, 0x8b, 8])
    const slow = halfUpload(lag.api.url, token, Buffer.alloc(500), begun)
    await expect.poll(() => lag.files().length).toBe(1)
    const busy = await lag.upload(1, { token: 'whatever' })
    expect([busy.status, await busy.text()]).toEqual([404, refusal])
    await expect
      .poll(async () => {
        await lag.clock.advance(1000)
        return slow.answer()
      })
      .toContain('404')
    expect(slow.answer()).toContain(refusal)
    expect(results()).toEqual({ busy: 1, time: 1 })
    expect(lag.files()).toEqual([])
    await lag.clock.advance(60_000)
    expect((await lag.status(capture_id))?.recorders[0]?.status).toBe('missed')
    await lag.flush(capture_id)
    expect((await lag.upload(1)).status).toBe(204)
  })

  it('[L-UP-2] [L-UP-3] [L-UP-7] one that outlasts the time of a request ends before that', async () => {
    await lag.restart({ 'http.request_timeout_ms': '9000' })
    await flushed()
    const { token } = lag.recording.flushOf(1)
    const slow = halfUpload(lag.api.url, token, Buffer.alloc(500), Buffer.from([0x1f]))
    await expect.poll(() => lag.files().length).toBe(1)
    await lag.clock.advance(8500)
    await expect.poll(slow.answer).toContain(refusal)
    expect(results()).toEqual({ time: 1 })
  })

  it('[H-GEN-5] [L-UP-7] one that is cut with its request took too long', async () => {
    // By the clock of the machine; that of uploads stands.
    await lag.restart({ 'http.request_timeout_ms': '1000' })
    await flushed()
    const { token } = lag.recording.flushOf(1)
    halfUpload(lag.api.url, token, Buffer.alloc(500), Buffer.from([0x1f]))
    await expect.poll(results).toEqual({ time: 1 })
    expect(lag.files()).toEqual([])
  })

  it('[L-UP-6] answers only the pages of allowed origins', async () => {
    const origin = 'https://game.example'
    await lag.restart({ 'lag_diagnostics.allowed_origins': origin })
    const preflight = (from: string) =>
      fetch(lag.api.url + uploadPath, {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'POST' },
      })
    const allowed = await preflight(origin)
    expect(allowed.status).toBe(204)
    expect(Object.fromEntries(allowed.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, content-encoding',
      vary: 'Origin',
    })
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull()
    const other = await preflight('https://other.example')
    expect([other.status, await other.text()]).toEqual([404, refusal])
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
    await flushed()
    const answer = await lag.upload(1, { headers: { origin } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
      204,
      origin,
    ])
    const refused = await lag.upload(1, { headers: { origin } })
    expect([refused.status, refused.headers.get('vary')]).toEqual([404, 'Origin'])
    const get = await fetch(lag.api.url + uploadPath)
    expect(get.status).toBe(405)
  })

  it('[L-UP-2] [L-GEN-4] captures that are off are no other refusal', async () => {
    await flushed()
    const { token } = lag.recording.flushOf(1)
    await lag.restart({ 'lag_diagnostics.enabled': 'false' })
    await expectRefused(lag.upload(1, { token, body: new Uint8Array(1) }))
    expect(results()).toEqual({ disabled: 1 })
    const origin = 'https://game.example'
    const off = { 'lag_diagnostics.enabled': 'false' }
    await lag.restart({ ...off, 'lag_diagnostics.allowed_origins': origin })
    const headers = { origin, 'access-control-request-method': 'POST' }
    await expectRefused(fetch(lag.api.url + uploadPath, { method: 'OPTIONS', headers }))
  })

  it('[L-UP-7] [L-UP-5] a root that is gone or leads elsewhere is an error, and nothing is left', async () => {
    await flushed(1)
    const away = `${lag.rawRoot}-away`
    renameSync(lag.rawRoot, away)
    await expectRefused(lag.upload(1))
    renameSync(away, lag.rawRoot)
    await flushed(2)
    rmSync(join(lag.rawRoot, 'staging'), { recursive: true })
    mkdirSync(away)
    symlinkSync(away, join(lag.rawRoot, 'staging'))
    await expectRefused(lag.upload(2))
    rmSync(join(lag.rawRoot, 'staging'))
    mkdirSync(join(lag.rawRoot, 'staging'))
    await flushed(3)
    chmodSync(lag.rawRoot, 0o700)
    for (let shard = 0; shard < 256; shard += 1) {
      const name = shard.toString(16).padStart(2, '0')
      writeFileSync(join(lag.rawRoot, name), '')
    }
    expect((await lag.upload(3)).status).toBe(404)
    expect(lag.files().filter((name) => name.includes('lc1-'))).toEqual([])
    expect(await rows()).toBe(0)
    expect(results()).toEqual({ error: 3 })
    rmSync(away, { recursive: true, force: true })
  })

  it('[L-UP-5] a transaction that fails takes the file with it', async () => {
    const capture_id = await flushed()
    await lag.db.transaction((tx) => tx.run(dropReports, {}))
    await expectRefused(lag.upload(1))
    expect(results()).toEqual({ error: 1 })
    expect((await lag.status(capture_id))?.recorders[0]?.status).toBe('flushing')
  })
})

/** As many bytes as that, of blocks that hold nothing, before what is packed. */
function padded(packed: Buffer, bytes: number): Uint8Array<ArrayBuffer> {
  const empty = Buffer.from([0, 0, 0, 0xff, 0xff])
  const blocks = Buffer.alloc(bytes - (bytes % empty.length), empty)
  return new Uint8Array(Buffer.concat([packed.subarray(0, 10), blocks, packed.subarray(10)]))
}
