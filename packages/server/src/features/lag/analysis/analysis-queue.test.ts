import { describe, expect, it } from 'vitest'
import { testBackends } from '../../../database/testing/backends.ts'
import { silentLog } from '../../../database/testing/silent-log.ts'
import { testConfig } from '../../../testing/config.ts'
import { openLag } from '../lag.fixture.ts'
import { createAnalysisQueue } from './analysis-queue.ts'

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
        db: lag.db,
        log: silentLog,
        nodeId,
        raw: { pathOf: async (handle) => handle },
        thread: {
          async run({ path }) {
            analysed.push(path)
            return { ok: false, isTransient: false, reason: 'the test wants nothing of it' }
          },
          stop: async () => {},
        },
        bytesMax: 65_536,
      })
    const run = { signal: new AbortController().signal, progress() {} }
    const elsewhere: string[] = []
    await queueOf('another-node', elsewhere).runAll(run)
    expect(elsewhere).toEqual([])
    const here: string[] = []
    const { node_id } = (await testConfig()).server
    for (let runs = 0; runs < 2; runs += 1) await queueOf(node_id, here).runAll(run)
    expect(here).toEqual(handles)
    await lag.dispose()
  })
})
