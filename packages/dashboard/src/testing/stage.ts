import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { buildDashboard } from '../build/build-page.ts'
import { browserForTests } from './browser.ts'
import { type Desk, openDesk } from './operator.ts'
import { type Played, play } from './players.ts'
import { type Seeded, seed } from './seed.ts'
import { type ServedNode, serveNode } from './served-node.ts'

/** What every test in a browser works with: a node that was seeded, and operators at its page. */
export type Stage = {
  browser: Browser
  node: ServedNode
  seeded: Seeded
  /** Signs somebody in for some work. */
  with: Desk
}

export type LiveStage = Stage & { played: Played }

export type Stages = {
  /** A node in memory, whose data tests change. */
  memory: () => Stage
  /** A node with a file and a script, on which players play. */
  live: () => LiveStage
}

/** Players sign in by the hundred, all from one address. */
const manySignIns = { GUILDHALL_AUTHENTICATION__LIMITS__SOURCE__LIMIT: '10000' }

/** Tests of the dashboard in a real browser: one browser and two nodes for all of them. */
export async function describeInBrowser(tests: (stages: Stages) => void): Promise<void> {
  const browser = await browserForTests()
  describe.skipIf(browser === undefined)('the dashboard in a browser', () => {
    let memory: Stage | undefined
    let live: LiveStage | undefined
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-dashboard-'))

    beforeAll(async () => {
      if (browser === undefined) return
      await buildDashboard()
      const settings = {
        GUILDHALL_DATABASE__URL: `sqlite:${join(folder, 'live.db')}`,
        GUILDHALL_RUNTIME__SCRIPTS_DIR: join(import.meta.dirname, 'game'),
        GUILDHALL_LAG_DIAGNOSTICS__ENABLED: 'true',
        GUILDHALL_LAG_DIAGNOSTICS__RAW_ROOT: folder,
      }
      memory = await openStage(browser, manySignIns)
      const stage = await openStage(browser, settings)
      live = { ...stage, played: await play(stage.node.url) }
    })

    afterAll(async () => {
      await live?.played.leave()
      await Promise.all([browser?.close(), memory?.node.stop(), live?.node.stop()])
      rmSync(folder, { recursive: true })
    })

    tests({ memory: () => expectSet(memory), live: () => expectSet(live) })
  })
}

async function openStage(browser: Browser, settings?: Readonly<Record<string, string>>) {
  const node = await serveNode(settings)
  const seeded = await seed(node.client, Date.now())
  const stage: Stage = { browser, node, seeded, with: openDesk(browser, node) }
  return stage
}

function expectSet<T>(stage: T | undefined): T {
  if (stage === undefined) throw new Error('the stage is set before the tests')
  return stage
}
