import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lagApi } from '@guildhall/contract'
import { beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { type LagScenario, openLag } from './lag.fixture.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')

const moveAway = statement({
  name: 'test.move-away',
  text: "UPDATE lag_artifacts SET node_id = 'another'",
  params: {},
})
const markGone = statement({
  name: 'test.mark-gone',
  text: 'UPDATE lag_artifacts SET available = 0',
  params: {},
})
const handles = statement({
  name: 'test.handles',
  text: 'SELECT handle FROM lag_artifacts',
  params: {},
  row: { handle: 'text' },
})

describe.each(durable)('raw bytes on $name', (backend) => {
  let lag: LagScenario
  beforeEach(async () => {
    lag = await openLag(backend)
    return () => lag.dispose()
  })

  async function reports() {
    return lagApi.reports.ok.parse((await lag.operator.send('GET', '/lag/reports')).body).items
  }

  it('[H-LAG-10] [L-GEN-3] those of another node are not here, and it alone removes them', async () => {
    const { capture_id, handle } = await lag.recorded()
    await lag.api.runTask('lag-analysis')
    await lag.db.transaction((tx) => tx.run(moveAway, {}))
    const path = `/lag/captures/${capture_id}/raw/${handle}`
    expect((await lag.operator.send('GET', path)).status).toBe(404)
    expect((await lag.operator.send('DELETE', path)).status).toBe(404)
    const again = `/lag/captures/${capture_id}/regenerate`
    expect((await lag.operator.send('POST', again, { handle })).status).toBe(409)
    expect(await reports()).toMatchObject([{ status: 'complete', raw_available: false }])
    await lag.restart()
    expect(lag.files()).toHaveLength(1)
  })

  it('[L-OUT-1] bytes that are deleted before a run make its report fail', async () => {
    const { capture_id, handle } = await lag.recorded()
    const path = `/lag/captures/${capture_id}/raw/${handle}`
    expect((await lag.operator.send('DELETE', path)).status).toBe(204)
    await lag.api.runTask('lag-analysis')
    expect(await reports()).toMatchObject([{ status: 'failed', raw_available: false }])
  })

  it('[L-RET-1] [L-RET-2] a deletion that a crash cut short is ended at the next boot', async () => {
    const { capture_id } = await lag.recorded()
    await lag.db.transaction((tx) => tx.run(markGone, {}))
    expect(lag.files()).toHaveLength(1)
    await lag.restart()
    expect(lag.files()).toEqual([])
    const raw = await lag.operator.send('GET', `/lag/captures/${capture_id}/raw`)
    expect(raw.body).toEqual({ items: [] })
  })

  const hourMs = 3_600_000

  it('[L-RET-1] [L-GEN-4] they go after their hours also while captures are off', async () => {
    const { capture_id, handle } = await lag.recorded()
    await lag.api.runTask('lag-analysis')
    await lag.restart({ 'lag_diagnostics.enabled': 'false' })
    expect(await reports()).toMatchObject([{ raw_available: true }])
    const path = `/lag/captures/${capture_id}/raw/${handle}`
    expect((await lag.operator.send('GET', path)).status).toBe(200)
    await lag.clock.advance(168 * hourMs)
    await lag.api.runTask('lag-retention')
    expect(lag.files()).toEqual([])
    await lag.clock.advance(90 * 24 * hourMs)
    expect(await lag.api.pruner('lag_captures')(100)).toBe(1)
  })

  it('[L-GEN-4] a node that is off starts with a folder that it cannot use', async () => {
    await lag.recorded()
    rmSync(lag.rawRoot, { recursive: true })
    writeFileSync(lag.rawRoot, '')
    await lag.restart({ 'lag_diagnostics.enabled': 'false' })
    expect(lag.journal).toHaveLength(1)
    rmSync(lag.rawRoot)
  })

  it('[L-RET-1] one that cannot be removed holds up none of the others', async () => {
    const stuck = await lag.recorded()
    await lag.clock.advance(1)
    await lag.recorded()
    const path = join(lag.rawRoot, stuck.handle.slice(-2), stuck.handle)
    rmSync(path)
    mkdirSync(path)
    await lag.clock.advance(168 * hourMs)
    await lag.api.runTask('lag-retention')
    expect([lag.files(), lag.journal.length]).toEqual([[], 1])
    expect(await lag.db.all(handles, {})).toEqual([{ handle: stuck.handle }])
    rmSync(path, { recursive: true })
    await lag.api.runTask('lag-retention')
    expect(await lag.db.all(handles, {})).toEqual([])
  })

  it('[L-RET-2] a node starts beside what is no folder of its own, or cannot be removed', async () => {
    const { handle } = await lag.recorded()
    const shard = handle.slice(-2)
    const [file, link] = ['aa', 'bb', 'cc'].filter((name) => name !== shard) as [string, string]
    writeFileSync(join(lag.rawRoot, file), '')
    symlinkSync(lag.rawRoot, join(lag.rawRoot, link))
    const strange = join(lag.rawRoot, shard, `lc1-${'0'.repeat(30)}${shard}`)
    mkdirSync(strange)
    await lag.restart()
    expect(lag.journal).toHaveLength(1)
    expect(await reports()).toMatchObject([{ raw_available: true }])
  })
})
