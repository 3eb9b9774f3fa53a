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
  auditUnsealed: () => false,
  journalWritable: () => true,
  rowsDroppedAgoMs: () => Number.POSITIVE_INFINITY,
  clockDoubtful: () => false,
  diskLow: () => false,
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
  ])('[O-HLT-4] when %s', (_when, deps, status) => {
    const health = createHealth({ ...well, ...deps })
    expect([health.status(), health.readiness().status]).toEqual([status, 'ready'])
  })

  it('[O-AUD-2] is degraded, and ready, while audit rows wait too long for their seal', () => {
    const health = createHealth({ ...well, auditUnsealed: () => true })
    expect(health.status()).toBe('degraded')
    expect(health.readiness().status).toBe('ready')
  })
})
