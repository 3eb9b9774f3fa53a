import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../kernel/clock.fake.ts'
import { createHealth, type HealthDeps } from './health.ts'

const well: HealthDeps = {
  clock: createFakeClock(),
  databaseState: () => 'up',
  nodeClaimHeld: () => true,
  realtimeListening: () => true,
  requiredScriptReady: () => undefined,
  scriptState: () => 'ready',
  failingTasks: () => ({ names: [], essentialFailing: false }),
  queueFill: () => 0,
  eventLoopLagMs: () => 0,
  featureDegraded: () => false,
  journalWritable: () => true,
  rowsDroppedAgoMs: () => Number.POSITIVE_INFINITY,
  clockDoubtful: () => false,
  diskLow: () => false,
}

function failing(essentialFailing: boolean) {
  return { names: ['retention'], essentialFailing }
}

describe('the health of a node', () => {
  it('[O-HLT-1] is healthy when nothing is wrong', () => {
    expect(createHealth(well).status()).toBe('healthy')
  })

  it.each<[string, Partial<HealthDeps>, string]>([
    ['the error journal cannot be written', { journalWritable: () => false }, 'degraded'],
    ['a clock is doubtful', { clockDoubtful: () => true }, 'degraded'],
    ['the disk is nearly full', { diskLow: () => true }, 'degraded'],
    ['rows were dropped lately', { rowsDroppedAgoMs: () => 299_999 }, 'degraded'],
    ['rows were dropped long ago', { rowsDroppedAgoMs: () => 300_000 }, 'healthy'],
    ['a queue is nearly full', { queueFill: () => 0.91 }, 'degraded'],
    ['a queue is at 90 %', { queueFill: () => 0.9 }, 'healthy'],
    ['the event loop lags', { eventLoopLagMs: () => 501 }, 'degraded'],
    ['the event loop lags at the bound', { eventLoopLagMs: () => 500 }, 'healthy'],
    ['the script is degraded', { scriptState: () => 'degraded' }, 'degraded'],
    ['the script is unavailable', { scriptState: () => 'unavailable' }, 'degraded'],
    ['there is no script', { scriptState: () => 'no_script' }, 'healthy'],
    ['a required script is ready', { requiredScriptReady: () => true }, 'healthy'],
    ['a task fails', { failingTasks: () => failing(false) }, 'degraded'],
    ['the database is in doubt', { databaseState: () => 'suspect' }, 'healthy'],
  ])('[H-PUB-2] [O-HLT-4] when %s', (_when, deps, status) => {
    const health = createHealth({ ...well, ...deps })
    expect([health.status(), health.readiness().status]).toEqual([status, 'ready'])
  })

  it.each<[string, string, Partial<HealthDeps>, string]>([
    ['database', 'the database is down', { databaseState: () => 'down' }, 'degraded'],
    ['node_claim', 'the claim is lost', { nodeClaimHeld: () => false }, 'unhealthy'],
    ['script', 'a required script is not', { requiredScriptReady: () => false }, 'healthy'],
    ['tasks', 'an essential task fails', { failingTasks: () => failing(true) }, 'degraded'],
  ])('[H-PUB-4] [O-HLT-3] is not ready for its %s when %s', (name, _when, deps, status) => {
    const health = createHealth({ ...well, ...deps })
    expect(health.status()).toBe(status)
    const { status: ready, checks } = health.readiness()
    expect(ready).toBe('not_ready')
    expect(checks.filter(({ ok }) => !ok).map((check) => check.name)).toEqual([name])
  })

  it('[H-PUB-4] [O-HLT-3] has its checks in order, and names the tasks that fail', () => {
    const deps = { requiredScriptReady: () => true, failingTasks: () => failing(false) }
    const { checks } = createHealth({ ...well, ...deps }).readiness()
    expect(checks).toEqual([
      { name: 'database', ok: true },
      { name: 'migrations', ok: true },
      { name: 'node_claim', ok: true },
      { name: 'realtime', ok: true },
      { name: 'script', ok: true },
      { name: 'tasks', ok: true, failing: ['retention'] },
      { name: 'draining', ok: true },
    ])
  })

  it('[H-PUB-2] is unhealthy once the database was silent for 5 s, until it speaks again', async () => {
    const clock = createFakeClock()
    let state: 'up' | 'down' = 'down'
    const health = createHealth({ ...well, clock, databaseState: () => state })
    health.watch()
    await clock.advance(4999)
    expect(health.status()).toBe('degraded')
    await clock.advance(1)
    expect(health.status()).toBe('unhealthy')
    state = 'up'
    expect(health.status()).toBe('healthy')
    state = 'down'
    expect(health.status()).toBe('degraded')
  })

  it('[O-AUD-2] is degraded, and ready, while a feature is, as when audit rows wait too long for their seal', () => {
    const health = createHealth({ ...well, featureDegraded: () => true })
    expect(health.status()).toBe('degraded')
    expect(health.readiness().status).toBe('ready')
  })
})
