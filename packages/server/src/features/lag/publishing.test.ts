import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { artifact } from './analysis/artifact.fixture.ts'
import { fileHandles } from './file-handles.fixture.ts'
import { halfUpload } from './half-upload.fixture.ts'
import { type LagScenario, openLag } from './lag.fixture.ts'
import { createRawStore, type Staged } from './uploads/raw-store.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')
const handle = `lc1-${'ab'.repeat(16)}`

describe.each(durable)('publishing on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  async function reports(): Promise<{ status: string; raw_available: boolean }[]> {
    const answer = await lag.operator.send('GET', '/lag/reports')
    return (answer.body as { items: { status: string; raw_available: boolean }[] }).items
  }

  /** A recorder that was asked to upload. */
  async function flushed(participant: number, max_bytes?: number): Promise<string> {
    lag.recording.join(participant)
    const bounds = max_bytes === undefined ? {} : { max_bytes }
    const { capture_id } = await lag.start({ participants: [participant], ...bounds })
    lag.recording.say(participant, { capture_id })
    await lag.flush(capture_id)
    return capture_id
  }

  const bytes = (capture_id: string) =>
    gzipSync(artifact({ records: [{ elapsed_us: 1 }], header: { capture_id } }))

  const steps: [where: string, act: (staged: Staged, whole: Buffer) => Promise<void>][] = [
    ['before the first byte', async () => {}],
    ['with a part of it written', (staged, whole) => staged.write(whole.subarray(0, 20))],
    ['with all of it written', (staged, whole) => staged.write(whole)],
    [
      'behind the move, before the rows are committed',
      async (staged, whole) => {
        await staged.write(whole)
        await staged.publish()
      },
    ],
  ]
  it.each(steps)('[L-UP-5] [L-RET-2] a node that dies %s leaves nothing', async (_where, act) => {
    const capture_id = await flushed(1)
    const raw = createRawStore(lag.rawRoot, 1e9)
    await act(await raw.stage(handle), bytes(capture_id))
    expect(lag.files()).toHaveLength(1)
    await lag.restart()
    expect([lag.files(), await reports()]).toEqual([[], []])
    const captures = await lag.operator.send('GET', '/lag/captures')
    expect(captures.body).toMatchObject({ items: [{ capture_id, state: 'expired' }] })
  })

  it('[L-UP-5] [L-OUT-1] one that dies behind the commit has published', async () => {
    await flushed(1)
    expect((await lag.upload(1)).status).toBe(204)
    await lag.restart()
    expect(lag.files()).toHaveLength(1)
    await lag.api.runTask('lag-analysis')
    expect(await reports()).toMatchObject([{ status: 'complete', raw_available: true }])
  })

  it.each(['write', 'sync'] as const)(
    '[L-UP-7] [L-UP-5] [L-TOK-4] a disk that is full at the %s of an upload is an error, and nothing is left',
    async (step) => {
      const capture_id = await flushed(1)
      const files = await fileHandles(lag.rawRoot)
      const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      const spy = vi.spyOn(files, step).mockRejectedValueOnce(full)
      onTestFinished(() => void spy.mockRestore())
      const answer = await lag.upload(1)
      expect([answer.status, await answer.text()]).toEqual([
        404,
        '{"code":"not_found","message":"not found"}',
      ])
      expect([lag.files(), await reports()]).toEqual([[], []])
      expect(lag.api.features.lag.counts().uploads.get('error')).toBe(1)
      expect(lag.journal).toEqual([full])
      expect(JSON.stringify(lag.api.log)).not.toContain(lag.recording.flushOf(1).token)
      // There is room again.
      await lag.flush(capture_id)
      expect((await lag.upload(1)).status).toBe(204)
    },
  )

  it('[L-LIFE-1] an upload that is under way outlives the connection, and is published', async () => {
    const capture_id = await flushed(1)
    const body = bytes(capture_id)
    const upload = halfUpload(lag.api.url, lag.recording.flushOf(1).token, body)
    await expect.poll(() => lag.files().length).toBe(1)
    lag.recording.leave(1)
    expect(await lag.status(capture_id)).toMatchObject({
      state: 'flushing',
      recorders: [{ status: 'gone' }],
    })
    upload.socket.write(body.subarray(-1))
    await expect.poll(upload.answer).toContain('204')
    expect(await lag.status(capture_id)).toMatchObject({
      state: 'sealed',
      recorders: [{ status: 'uploaded' }],
    })
    expect(await reports()).toHaveLength(1)
  })

  it('[L-LIFE-1] [L-TOK-3] all other grants of a connection that ends are void', async () => {
    const capture_id = await flushed(1)
    const body = bytes(capture_id)
    const first = halfUpload(lag.api.url, lag.recording.flushOf(1).token, body)
    await expect.poll(() => lag.files().length).toBe(1)
    await lag.flush(capture_id)
    lag.recording.leave(1)
    expect((await lag.upload(1)).status).toBe(404)
    first.socket.write(body.subarray(-1))
    await expect.poll(first.answer).toContain('204')
    expect(await reports()).toHaveLength(1)
  })

  it('[L-TOK-3] a grant expires, though an earlier upload is still under way', async () => {
    await lag.restart({ 'lag_diagnostics.flush_window_ms': '5000' })
    const capture_id = await flushed(1)
    const first = halfUpload(lag.api.url, lag.recording.flushOf(1).token, bytes(capture_id))
    await expect.poll(() => lag.files().length).toBe(1)
    await lag.flush(capture_id)
    await lag.clock.advance(5000)
    expect((await lag.upload(1)).status).toBe(404)
    expect(await lag.status(capture_id)).toMatchObject({ recorders: [{ status: 'flushing' }] })
    first.socket.destroy()
    await expect
      .poll(() => lag.status(capture_id))
      .toMatchObject({
        recorders: [{ status: 'missed' }],
      })
  })

  it('[L-LIFE-4] a withdrawal takes back an upload that is under way', async () => {
    const capture_id = await flushed(1)
    const body = bytes(capture_id)
    const upload = halfUpload(lag.api.url, lag.recording.flushOf(1).token, body)
    await expect.poll(() => lag.files().length).toBe(1)
    lag.recording.withdraw(1)
    upload.socket.write(body.subarray(-1))
    await expect.poll(upload.answer).toContain('404')
    expect([lag.files(), await reports()]).toEqual([[], []])
  })

  it('[L-LIFE-4] a withdrawal while the rows are written takes it back, too', async () => {
    const capture_id = await flushed(1)
    const transaction = lag.db.transaction.bind(lag.db)
    const spy = vi.spyOn(lag.db, 'transaction').mockImplementation((run, options) =>
      transaction(async (tx) => {
        lag.recording.withdraw(1)
        return run(tx)
      }, options),
    )
    const answer = await lag.upload(1)
    spy.mockRestore()
    expect(answer.status).toBe(404)
    expect([lag.files(), await reports()]).toEqual([[], []])
    expect((await lag.status(capture_id))?.recorders[0]?.status).toBe('failed')
  })

  it('[L-UP-3] an upload that never pauses for long still has 30 s in all', async () => {
    const capture_id = await flushed(1)
    const body = bytes(capture_id)
    const head = body.subarray(0, 1)
    const upload = halfUpload(lag.api.url, lag.recording.flushOf(1).token, body, head)
    let sent = 1
    const sizes = () => Promise.all(lag.files().map((name) => sizeOf(join(lag.rawRoot, name))))
    for (; sent < 6; sent += 1) {
      await expect.poll(sizes).toEqual([sent])
      await lag.clock.advance(5000)
      upload.socket.write(body.subarray(sent, sent + 1))
    }
    await expect.poll(sizes).toEqual([sent])
    expect(upload.answer()).toBe('')
    await lag.clock.advance(5000)
    await expect.poll(upload.answer).toContain('404')
    expect(lag.api.features.lag.counts().uploads.get('time')).toBe(1)
    expect(lag.files()).toEqual([])
  })

  it('[L-UP-3] uploads are unpacked at 16 MiB a second together, and each holds at most 256 KiB', async () => {
    const uploads = 4
    const capture = randomBytes(3_000_000)
    const tokens: string[] = []
    for (let participant = 1; participant <= uploads; participant += 1) {
      await flushed(participant, 67_108_864)
      tokens.push(lag.recording.flushOf(participant).token)
    }
    // Once before, so that what is compiled and opened for good does not count.
    await lag.upload(1, { token: 'none' })
    const body = gzipSync(capture, { level: 0 })
    const before = held()
    const sockets = tokens.map((token) => halfUpload(lag.api.url, token, body))
    onTestFinished(() => {
      for (const { socket } of sockets) socket.destroy()
    })
    const sizes = () => Promise.all(lag.files().map((name) => sizeOf(join(lag.rawRoot, name))))
    const sum = async () => (await sizes()).reduce((total, size) => total + size, 0)
    // Its clock stands but for these steps: what is more waits, whatever the clients send.
    const stepMs = 10
    for (let step = 0; step <= 15; step += 1) {
      const due = 1_048_576 + (step * stepMs * 16_777_216) / 1000
      await expect.poll(sum, { interval: 10 }).toBeGreaterThanOrEqual(due)
      // Of each upload the piece that waits, up to two behind it, and up to two that came.
      expect(await sum()).toBeLessThan(due + uploads * 6 * 65_536)
      await lag.clock.advance(stepMs)
    }
    const later = async () => {
      await lag.clock.advance(100)
      return sizes()
    }
    await expect.poll(later).toEqual(tokens.map(() => body.length - 1))
    // What is swept is counted a little later.
    await expect.poll(() => (held() - before) / uploads).toBeLessThan(256 * 1024)
  })
})

async function sizeOf(path: string): Promise<number> {
  const file = await open(path, 'r')
  try {
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Bytes that are still reachable. */
function held(): number {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
