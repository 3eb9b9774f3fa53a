import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import type { Browser, Locator } from 'playwright-core'
import { buildDashboard } from '../build/build-page.ts'
import { launchBrowser } from './browser.ts'
import { signedIn } from './operator.ts'
import { seed } from './seed.ts'
import { admin, type ServedNode, serveNode } from './served-node.ts'

/**
 * `npm run bench:dashboard` measures the dashboard for docs/benchmarks.md: how soon the page is of
 * use, what its live plots cost, what its polling costs the players, and how soon it finds one of
 * a million accounts, or of as many as are given.
 */

const rounds = 5
const watchedMs = 20_000
const loadMs = 4_000
const lanes = 8
/** So many dashboards are open on the overview. */
const operators = 10
const accounts = Number(process.argv[2] ?? 1_000_000)

await buildDashboard()
const node = await serveNode({ GUILDHALL_AUTHENTICATION__LIMITS__SOURCE__LIMIT: '1000' })
const browser = await launchBrowser()
try {
  await seed(node.client, Date.now())
  const [form, overview] = await opening(browser, node)
  print('the sign-in form is ready', `${form} ms`)
  print('the overview shows its first numbers', `${overview} ms`)
  print('live plots, of a core', `${await plotCost(browser, node)} %`)
  await findingAmongMany(browser)
  await browser.close()
  await pollingCost(node)
} finally {
  await browser.close()
  await node.stop()
}

function print(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(48)}${value}\n`)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

/** From the begin of the navigation, in a browser that has never seen the page. */
async function opening(browser: Browser, node: ServedNode): Promise<[number, number]> {
  const [forms, overviews]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    for (const stranger of [true, false]) {
      const operator = await signedIn(browser, node, { stranger })
      await operator.open('')
      await operator.page.waitForSelector(stranger ? 'input[type=password]' : '.plot-now')
      const ms = await operator.page.evaluate<number>('performance.now()')
      ;(stranger ? forms : overviews).push(Math.round(ms))
      await operator.leave()
    }
  }
  return [median(forms), median(overviews)]
}

/** Processor time of all processes of the browser while the overview is watched. */
async function plotCost(browser: Browser, node: ServedNode): Promise<string> {
  const operator = await signedIn(browser, node)
  await operator.open('')
  await operator.page.waitForSelector('.plot-now')
  await operator.page.waitForTimeout(4_000)
  const before = await cpuSeconds(browser)
  await operator.page.waitForTimeout(watchedMs)
  const used = (await cpuSeconds(browser)) - before
  await operator.leave()
  return ((used / (watchedMs / 1000)) * 100).toFixed(1)
}

/** From the press of a key, or the begin of the navigation, to what was looked for. */
async function findingAmongMany(browser: Browser): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-many-'))
  const url = `sqlite:${join(folder, 'many.db')}`
  await fill({ url, seeds: { accounts } })
  const many = await serveNode({ GUILDHALL_DATABASE__URL: url })
  const [rows, options, filtered]: [number[], number[], number[]] = [[], [], []]
  const query = { limit: rounds, offset: Math.trunc(accounts / 2) }
  const { items } = await many.client.consoleAccounts.list({ query })
  for (const { username } of items) {
    const { page, open, leave } = await signedIn(browser, many)
    await open('/accounts')
    await page.waitForSelector('tbody tr[data-row="0"]')
    rows.push(await page.evaluate<number>('performance.now()'))
    await page.keyboard.press('Control+k')
    options.push(
      await msUntil(
        () => page.getByRole('combobox', { name: 'Search' }).fill(username),
        page.getByRole('option', { name: new RegExp(`^${username} .*account`) }),
      ),
    )
    await page.keyboard.press('Escape')
    filtered.push(
      await msUntil(
        () => page.getByLabel('Part of an id or username').fill(username.slice(1)),
        page.locator('tbody tr[data-row="0"]').getByText(username),
      ),
    )
    await leave()
  }
  await many.stop()
  await rm(folder, { recursive: true })
  print(`the first row of ${accounts} accounts`, `${Math.round(median(rows))} ms`)
  print('the palette finds one by its name', `${Math.round(median(options))} ms`)
  print('the list finds some by a part of it', `${Math.round(median(filtered))} ms`)
}

async function msUntil(begin: () => Promise<void>, seen: Locator): Promise<number> {
  const startMs = performance.now()
  await begin()
  await seen.first().waitFor()
  return performance.now() - startMs
}

/** Rows that a database begins with, written faster than by the console. */
async function fill(options: { url: string; seeds: { accounts: number } }): Promise<void> {
  const program = join(import.meta.dirname, '../../../server/src/testing/measured/node.ts')
  const filler = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const chunk of filler.stdout) if (String(chunk).includes('ready ')) break
  const exited = once(filler, 'exit')
  filler.kill('SIGTERM')
  await exited
}

async function cpuSeconds(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

/** GET /v1/account by players, with and without dashboards that poll; rounds take turns. */
async function pollingCost({ url, client }: ServedNode): Promise<void> {
  const player = createPlayer(url)
  const { token } = await player.signIn.device({ id: 'measured', create: true, username: 'm' })
  const { token: console } = await client.console.login({ body: admin })
  const results: Record<'without' | 'with', number[]> = { without: [], with: [] }
  await accountP99(url, token)
  for (let round = 0; round < rounds; round += 1) {
    results.without.push(await accountP99(url, token))
    const stop = pollAs(url, console)
    results.with.push(await accountP99(url, token))
    stop()
  }
  for (const [name, values] of Object.entries(results)) {
    print(
      `p99 of GET /v1/account ${name} ${operators} dashboards`,
      `${median(values).toFixed(2)} ms`,
    )
  }
}

async function accountP99(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const took: number[] = []
  const endMs = performance.now() + loadMs
  const lane = async () => {
    while (performance.now() < endMs) {
      const startMs = performance.now()
      const answer = await fetch(`${url}/v1/account`, { headers })
      await answer.arrayBuffer()
      took.push(performance.now() - startMs)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? 0
}

/** What open overviews read, each as often as the page does. */
function pollAs(url: string, token: string): () => void {
  const headers = { authorization: `Bearer ${token}` }
  const polls: readonly [path: string, everyMs: number][] = [
    ['/status', 2_000],
    ['/health/ready', 5_000],
    ['/console/v1/errors?limit=6', 15_000],
    ['/console/v1/audit?limit=12', 15_000],
  ]
  const timers = polls.map(([path, everyMs]) =>
    setInterval(() => {
      void fetch(url + path, { headers }).then((answer) => answer.arrayBuffer())
    }, everyMs / operators),
  )
  return () => timers.forEach(clearInterval)
}
