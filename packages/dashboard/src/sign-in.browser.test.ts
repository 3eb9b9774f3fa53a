import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDashboard } from './build/build-page.ts'
import { launchBrowser, whyNoBrowser } from './testing/browser.ts'
import { fillSignIn, signedIn } from './testing/operator.ts'
import { seed } from './testing/seed.ts'
import { admin, type ServedNode, serveNode, viewer } from './testing/served-node.ts'

const reason = await whyNoBrowser()
if (reason !== undefined) process.stdout.write(`no browser here, so these are skipped: ${reason}\n`)

describe.skipIf(reason !== undefined)('signing in', () => {
  let browser: Browser
  let node: ServedNode

  beforeAll(async () => {
    await buildDashboard()
    node = await serveNode()
    await seed(node.desk, Date.now())
    browser = await launchBrowser()
  })

  afterAll(async () => {
    await browser?.close()
    await node?.stop()
  })

  it('[H-CON-1] refuses a wrong password in words, and lets the right one in', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${node.url}/dashboard/accounts?filter=ana`)
    await fillSignIn(page, { ...admin, password: 'wrong' })
    await page.getByText('do not belong together').waitFor()
    await fillSignIn(page, admin)
    await page.getByRole('link', { name: 'ana', exact: true }).waitFor()
    // The deep link led where it pointed, filter included.
    expect(await page.getByLabel('Part of an id or username').inputValue()).toBe('ana')
    await context.close()
  })

  it('[H-PUB-9] keeps the policy, and nothing of the page complains', async () => {
    const { page, complaints, open, leave } = await signedIn(browser, node.url)
    await open('/accounts')
    await page.getByRole('link', { name: 'ana', exact: true }).click()
    await page.getByRole('heading', { level: 1 }).getByText('ana').waitFor()
    expect(complaints).toEqual([])
    await leave()
  })

  it('[H-AUTH-5] shows a viewer no control that only an admin may use', async () => {
    const { page, open, leave } = await signedIn(browser, node.url, { as: viewer })
    expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
    await open('/accounts')
    await page.getByRole('link', { name: 'ana', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Create' }).count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await leave()
  })
})
