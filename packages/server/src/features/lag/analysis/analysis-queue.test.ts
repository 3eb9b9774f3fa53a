import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { statement } from '../../../database/statement.ts'
import { testBackends } from '../../../database/testing/backends.ts'
import { silentLog } from '../../../database/testing/silent-log.ts'
import { testConfig } from '../../../testing/config.ts'
import { type LagScenario, openLag } from '../lag.fixture.ts'
import { reportsStore } from '../reports/reports.store.ts'
import { createAnalysisQueue } from './analysis-queue.ts'
import { createAnalysisThread } from './analysis-thread.ts'

const durable = testBackends.filter(({ name }) => name !== 'in-memory')

describe.each(durable)('the queue of the analysis on $name', (backend) => {
  it('[L-AN-2] takes the oldest first, each once, and only what its node keeps', async () => {
    const lag = await openLag(backend)
    const handles: string[] = []
    for (let count = 0; count < 3; count += 1) {
      handles.push((await lag.recorded()).handle)
      await lag.clock.advance(1)
    }
    const queueOf = (nodeId: string, analysed: string[]) =>
      createAnalysisQueue({
        ...depsOf(lag),
        nodeId,
        thread: {
          async run({ path }) {
            analysed.push(path)
            return { ok: false, isTransient: false, reason: 'the test wants nothing of it' }
          },
          stop: async () => {},
        },
      })
    const elsewhere: string[] = []
    await queueOf('another-node', elsewhere).runAll(run)
    expect(elsewhere).toEqual([])
    const here: string[] = []
    const { node_id } = (await testConfig()).server
    for (let runs = 0; runs < 2; runs += 1) await queueOf(node_id, here).runAll(run)
    expect(here).toEqual(handles)
    await lag.dispose()
  })

  const stored = statement({
    name: 'test.status',
    text: 'SELECT status, runs FROM lag_reports',
    params: {},
    row: { status: 'text', runs: 'integer' },
  })

  it('[L-AN-2] tries a failure that may pass once a pass, and the third run may succeed', async () => {
    const lag = await openLag(backend)
    await lag.recorded()
    let tries = 0
    const queue = createAnalysisQueue({
      ...depsOf(lag),
      nodeId: (await testConfig()).server.node_id,
      raw: {
        pathOf(handle) {
          tries += 1
          return tries < 3 ? Promise.reject(new Error('an I/O error')) : rawOf(lag).pathOf(handle)
        },
      },
    })
    for (const status of ['pending', 'pending', 'complete']) {
      await queue.runAll(run)
      expect(await lag.db.get(stored, {})).toMatchObject({ status })
    }
    expect(tries).toBe(3)
    await lag.dispose()
  })

  it('[L-AN-2] gives up a result that cannot be stored, behind three runs', async () => {
    const lag = await openLag(backend)
    await lag.recorded()
    const nodeId = (await testConfig()).server.node_id
    const queue = createAnalysisQueue({ ...depsOf(lag), nodeId, raw: rawOf(lag) })
    const finish = vi.spyOn(reportsStore, 'finish')
    for (let pass = 0; pass < 3; pass += 1) {
      finish.mockRejectedValueOnce(new Error('a database error'))
      await queue.runAll(run)
    }
    expect(finish.mock.calls.map(([, { status }]) => status)).toEqual([
      'complete',
      'complete',
      'complete',
      'failed',
    ])
    finish.mockRestore()
    expect(await lag.db.get(stored, {})).toEqual({ status: 'failed', runs: 2 })
    await lag.dispose()
  })

  it('[L-OUT-1] leaves a report pending when the node stops during its run', async () => {
    const lag = await openLag(backend)
    await lag.recorded()
    const nodeId = (await testConfig()).server.node_id
    const thread = createAnalysisThread(lag.clock)
    const queue = createAnalysisQueue({ ...depsOf(lag), nodeId, raw: rawOf(lag), thread })
    await thread.stop()
    await queue.runAll(run)
    expect(await lag.db.get(stored, {})).toEqual({ status: 'pending', runs: 0 })
    await lag.dispose()
  })
})

const run = { signal: new AbortController().signal, progress() {} }

function depsOf(lag: LagScenario) {
  return {
    db: lag.db,
    log: silentLog,
    raw: { pathOf: async (handle: string) => handle },
    thread: createAnalysisThread(lag.clock),
    bytesMax: 65_536,
  }
}

/** The files as the node has put them. */
function rawOf({ rawRoot }: LagScenario) {
  return { pathOf: async (handle: string) => join(rawRoot, handle.slice(-2), handle) }
}
