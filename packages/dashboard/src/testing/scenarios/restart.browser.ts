import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillSignIn, signedIn } from '../operator.ts'
import { admin, type ServedNode, serveNode } from '../served-node.ts'
import type { Stage } from '../stage.ts'

/** A node that ends and comes back, at its address and with its file. */
export function restartTests(stage: () => Stage): void {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-restart-'))
  const settings = { GUILDHALL_DATABASE__URL: `sqlite:${join(folder, 'node.db')}` }
  let node: ServedNode

  beforeAll(async () => {
    node = await serveNode(settings)
  })

  afterAll(async () => {
    await node?.stop()
    rmSync(folder, { recursive: true })
  })

  it('a node that restarts is awaited, and nothing typed is lost', async () => {
    const { page, open, leave } = await signedIn(stage().browser, node)
    await open('/groups')
    await page.getByRole('button', { name: 'New group' }).click()
    const dialog = page.getByRole('dialog', { name: 'New group' })
    await dialog.getByLabel('Name').fill('Typed before')
    await node.kill()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('The node does not answer').waitFor()
    const bind = new URL(node.url).host
    node = await serveNode({ ...settings, GUILDHALL_HTTP__BIND: bind })
    await dialog.getByRole('button', { name: 'Create' }).click()
    // The tokens of operators ended with the process.
    const again = page.getByRole('dialog', { name: 'Sign in again' })
    await again.waitFor()
    await again.getByLabel('Password').fill(admin.password)
    await again.getByRole('button', { name: 'Sign in' }).click()
    await again.waitFor({ state: 'detached' })
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('Typed before')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('row').getByText('Typed before').waitFor()
    await expect.poll(() => page.getByText('no connection').count()).toBe(0)
    await leave()
  })

  it('a page of another version says so, and is loaded anew by hand', async () => {
    const { page, open, leave } = await signedIn(stage().browser, node, { stranger: true })
    await open('/groups')
    await fillSignIn(page, admin)
    await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
    await page.route('**/status', async (route) => {
      const answer = await route.fetch()
      const json: object = JSON.parse(await answer.text())
      await route.fulfill({ response: answer, json: { ...json, version: '99.0.0' } })
    })
    await page.waitForTimeout(1_100)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await page.getByText('The node runs version 99.0.0 now').waitFor()
    const load = page.waitForEvent('load')
    await page.getByRole('button', { name: 'Load the page anew' }).click()
    await load
    await leave()
  })
}
