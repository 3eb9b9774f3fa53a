import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createFakeClock } from '../../../kernel/clock.fake.ts'
import { createAnalysisThread, startThread } from './analysis-thread.ts'
import { artifact } from './artifact.fixture.ts'

function recording(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-analysis-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'recording')
  const records = [{ elapsed_us: 1 }, { elapsed_us: 50_001 }]
  writeFileSync(path, gzipSync(artifact({ records })))
  return path
}

function openThread(clock = createFakeClock()) {
  const thread = createAnalysisThread(clock)
  onTestFinished(() => thread.stop())
  return thread
}

const job = {
  bytesMax: 65_536,
  filters: [{ kind: 100, direction: 'inbound' }],
  participant: 1,
  options: { send_rate_hz: null, max_windows: 64 },
} as const

it('[L-AN-2] a run that takes more than 30 s is ended and has failed, the next one runs', async () => {
  const clock = createFakeClock()
  const thread = openThread(clock)
  const path = recording()
  // The thread has not begun to run when its time is over.
  const late = thread.run({ ...job, path })
  await clock.advance(30_000)
  expect(await late).toEqual({
    ok: false,
    isTransient: false,
    reason: 'the run took too long or its thread ended',
  })
  expect(await thread.run({ ...job, path })).toMatchObject({
    ok: true,
    analysis: { outcome: 'complete' },
  })
})

it('[L-OUT-1] a run that a stop cuts short has not failed', async () => {
  const thread = openThread()
  const path = recording()
  const cut = thread.run({ ...job, path })
  await thread.stop()
  expect(await cut).toBeUndefined()
  expect(await thread.run({ ...job, path })).toBeUndefined()
})

it('[L-AN-2] what cannot be read may be read later; what is no recording never', async () => {
  const thread = openThread()
  const path = recording()
  expect(await thread.run({ ...job, path: `${path}.gone` })).toMatchObject({ isTransient: true })
  writeFileSync(path, 'no gzip')
  expect(await thread.run({ ...job, path })).toMatchObject({ ok: false, isTransient: false })
  writeFileSync(path, gzipSync(new Uint8Array(65_537)))
  expect(await thread.run({ ...job, path })).toMatchObject({ ok: false, isTransient: false })
})

it('[L-AN-2] one thread runs what comes within 10 s, and ends when nothing comes', async () => {
  const clock = createFakeClock()
  let [started, ended] = [0, 0]
  const thread = createAnalysisThread(clock, () => {
    started += 1
    return startThread().once('exit', () => {
      ended += 1
    })
  })
  const path = recording()
  for (let run = 0; run < 3; run += 1) {
    await clock.advance(9999)
    expect(await thread.run({ ...job, path })).toMatchObject({ ok: true })
  }
  expect([started, ended]).toEqual([1, 0])
  await clock.advance(10_000)
  await expect.poll(() => ended).toBe(1)
  expect(await thread.run({ ...job, path })).toMatchObject({ ok: true })
  await thread.stop()
  expect([started, ended]).toEqual([2, 2])
})
