import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buildDashboard } from '../build/build-page.ts'
import { launchBrowser } from './browser.ts'
import { signedIn } from './operator.ts'
import { seed } from './seed.ts'
import { serveNode } from './served-node.ts'

/** `npm run pictures` makes the pictures of docs/dashboard.md anew, from a node that was seeded. */

const folder = join(import.meta.dirname, '../../../../docs/pictures')
const widths = [1440, 1024, 390]

await buildDashboard()
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const node = await serveNode()
const browser = await launchBrowser()
try {
  const { accounts } = await seed(node.desk, Date.now())
  const views: readonly [name: string, path: string, dark?: boolean][] = [
    ['overview', ''],
    ['accounts', '/accounts'],
    ['wallet', `/accounts/${accounts.ana}?tab=wallet`, true],
    ['leaderboard', '/leaderboards/weekly'],
    ['storage', `/storage?collection=saves&key=slot-1&owner=${accounts.ana}`, true],
  ]
  for (const width of widths) {
    for (const dark of [false, true]) {
      const { page, open, leave } = await signedIn(browser, node.url, { width, dark })
      for (const [name, path, isDark = false] of views) {
        if (isDark !== dark) continue
        await open(path)
        await page.waitForLoadState('networkidle')
        // The plots of the overview need some readings.
        await page.waitForTimeout(name === 'overview' ? 12_000 : 500)
        await page.screenshot({ path: join(folder, `${name}-${width}.png`) })
      }
      await leave()
    }
  }
} finally {
  await browser.close()
  await node.stop()
}
