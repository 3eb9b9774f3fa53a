import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { buildDashboard } from '../build/build-page.ts'
import { launchBrowser } from './browser.ts'
import { signedIn } from './operator.ts'
import { type Played, play } from './players.ts'
import { seed } from './seed.ts'
import { serveNode } from './served-node.ts'

/** `npm run pictures` makes the pictures of docs/dashboard.md anew, from a node that was seeded. */

const folder = join(import.meta.dirname, '../../../../docs/pictures')
const widths = [1440, 1024, 390]
/** So long the overview is watched before its picture, in milliseconds. */
const watchedMs = 75_000

await buildDashboard()
await mkdir(folder, { recursive: true })
for (const name of await readdir(folder)) {
  if (/-\d+\.webp$/.test(name)) await rm(join(folder, name))
}
const data = await mkdtemp(join(tmpdir(), 'guildhall-pictures-'))
const node = await serveNode({
  GUILDHALL_DATABASE__URL: `sqlite:${join(data, 'pictures.db')}`,
  GUILDHALL_RUNTIME__SCRIPTS_DIR: join(import.meta.dirname, 'game'),
  // The usual port may be that of a node beside it.
  GUILDHALL_TRANSPORT__QUIC__BIND: '127.0.0.1:0',
})
const browser = await launchBrowser()
const played = await play(node.url)
const traffic = talk(played)
try {
  const { accounts } = await seed(node.client, Date.now())
  const matches = await node.client.matchRecords.list({ query: { limit: 10 } })
  const match = matches.items.find(({ open }) => !open)?.match_id
  const views: readonly View[] = [
    { name: 'overview', path: '', waitMs: watchedMs },
    { name: 'accounts', path: '/accounts' },
    { name: 'wallet', path: `/accounts/${accounts.ana}?tab=wallet`, dark: true },
    { name: 'sessions', path: `/accounts/${played.player}?tab=sessions` },
    { name: 'leaderboard', path: '/leaderboards/weekly' },
    { name: 'match', path: `/match-records/${match}`, dark: true },
    {
      name: 'storage',
      path: `/storage?collection=saves&key=slot-1&owner=${accounts.ana}`,
      dark: true,
    },
  ]
  await Promise.all(widths.map((width) => picture(width, views)))
} finally {
  clearInterval(traffic)
  await played.leave()
  await browser.close()
  await node.stop()
  await rm(data, { recursive: true })
}

type View = { name: string; path: string; dark?: true; waitMs?: number }

async function picture(width: number, views: readonly View[]): Promise<void> {
  const operator = await signedIn(browser, node, { width })
  const { page } = operator
  for (const { name, path, dark, waitMs = 800 } of views) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' })
    await operator.open(path)
    await page.waitForTimeout(waitMs)
    const png = await page.screenshot()
    await writeFile(join(folder, `${name}-${width}.webp`), await webpOf(browser, png))
  }
  await operator.leave()
}

/** A fifth of the bytes of the PNG; the browser encodes it. */
async function webpOf(browser: Browser, png: Buffer): Promise<Buffer> {
  const page: Page = await browser.newPage()
  const encoded = await page.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png.toString('base64')}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', 0.85)
  })()`)
  await page.close()
  return Buffer.from(encoded.slice(encoded.indexOf(',') + 1), 'base64')
}

/** Messages that come and go, so that the plots have something to show. */
function talk({ open }: Played): NodeJS.Timeout {
  let beat = 0
  return setInterval(() => {
    beat += 1
    const count = 3 + Math.round(2 * Math.sin(beat / 40))
    for (let sent = 0; sent < count; sent += 1) open.send(101, 'steer')
  }, 100)
}
