import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { buildDashboard } from '../build/build-page.ts'
import { browserForTests } from './browser.ts'
import { type Operator, signedIn } from './operator.ts'
import { type Seeded, seed } from './seed.ts'
import { type ServedNode, serveNode } from './served-node.ts'

/** What every test in a browser works with. */
export type Stage = {
  browser: Browser
  node: ServedNode
  seeded: Seeded
  /** Signs somebody in; they leave when `work` is over. */
  with(work: (operator: Operator) => Promise<void>, options?: SignInOptions): Promise<void>
}

type SignInOptions = Parameters<typeof signedIn>[2]

/** Tests of the dashboard in a real browser, against a node of their own that was seeded. */
export async function describeInBrowser(
  title: string,
  tests: (stage: () => Stage) => void,
  options: { settings?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const browser = await browserForTests()
  describe.skipIf(browser === undefined)(title, () => {
    let stage: Stage | undefined

    beforeAll(async () => {
      if (browser === undefined) return
      await buildDashboard()
      const node = await serveNode(options.settings)
      const seeded = await seed(node.desk, Date.now())
      stage = {
        browser,
        node,
        seeded,
        async with(work, options) {
          const operator = await signedIn(browser, node.url, options)
          try {
            await work(operator)
          } finally {
            await operator.leave()
          }
        },
      }
    })

    afterAll(async () => {
      await browser?.close()
      await stage?.node.stop()
    })

    tests(() => {
      if (stage === undefined) throw new Error('the stage is set before the tests')
      return stage
    })
  })
}
