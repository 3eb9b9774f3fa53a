import { expect, it } from 'vitest'
import { startReloading, version } from './reload.fixture.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

it('[S-RDY-3] nothing is tried again in `unavailable` before the files change', async () => {
  const { save, seen, state, host, activations } = await startReloading({
    files: { 'main.js': 'broken {' },
  })
  expect(state()).toBe('unavailable')
  await pause(600)
  expect([state(), activations().length]).toEqual(['unavailable', 1])
  expect(host.metrics().script_worker_restarts_total).toBe(0)
  save('main.js', version(1))
  await seen(2)
  expect(state()).toBe('ready')
})

it('[S-RDY-4] `activating` is never seen while an old script serves', async () => {
  const { save, seen, state, host, activations, rpc } = await startReloading({
    files: { 'main.js': version(1, 'guildhall.on_unload(() => 1)') },
  })
  const { since_unix_millis } = host.describe().readiness
  const slow = 'guildhall.on_start(() => new Promise((resolve) => setTimeout(resolve, 300)))'
  const states = new Set<string>()
  save('main.js', version(2, slow))
  while (activations().length < 2) {
    states.add(state())
    await pause(1)
  }
  await seen(2)
  expect([...states]).toEqual(['ready'])
  expect(host.describe().readiness.since_unix_millis).toBeGreaterThan(since_unix_millis)
  expect(await rpc('version')).toBe('2')
})

it('[S-RDY-5] no attempt is made while a candidate loads, and the last revision is shown', async () => {
  const exits = version(1, `guildhall.on_rpc('exit', () => process.exit())`)
  const { rpc, save, seen, state, host, until, activations } = await startReloading({
    files: { 'main.js': exits },
    config: { restart_backoff_ms: 5_000, restart_backoff_max_ms: 5_000 },
  })
  const { revision_id } = host.describe().readiness
  await rpc('exit')
  await until(() => state() === 'degraded')
  save('main.js', version(2, 'await new Promise((resolve) => setTimeout(resolve, 2000))'))
  await until(() => !host.isQuiet())
  expect(host.describe().readiness).toMatchObject({ state: 'degraded', revision_id, generation: 1 })
  await seen(2)
  expect(activations().map(({ reason }) => reason)).toEqual(['reload', 'boot'])
  expect(host.metrics().script_worker_restarts_total).toBe(0)
  expect(host.describe().readiness).toMatchObject({
    ...{ state: 'ready', generation: 2 },
    recovery: { consecutive_failures: 0 },
  })
})
