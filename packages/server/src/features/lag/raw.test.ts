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
})
