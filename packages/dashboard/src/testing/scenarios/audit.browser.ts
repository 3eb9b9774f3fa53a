import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import type { LiveStage } from '../stage.ts'

/** More entries than one request answers with. */
const changes = 620

/** The trail of a node with a file: more pages than one. */
export function auditTests(stage: () => LiveStage): void {
  beforeAll(async () => {
    const { node, seeded } = stage()
    const params = { id: seeded.accounts.nora ?? '' }
    const lane = async (first: number) => {
      for (let index = first; index < changes; index += 8) {
        const body = { currency: 'tick', delta: 1, reason: `=cmd|${index}` }
        await node.client.wallet.adjust({ params, body })
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, first) => lane(first)))
  })

  it('[H-AUD-7] [H-AUD-8] the trail is filtered by the address, and its chain is watched', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/audit?action=groups.create')
      await page.getByText('groups.create').locator('visible=true').first().waitFor()
      await page.getByText('chain is sealed').waitFor()
      await page.getByLabel('Actor, exactly').fill('nobody-of-this-name')
      await page.getByText('No entry matches').waitFor()
      expect(new URL(page.url()).search).toBe('?action=groups.create&actor=nobody-of-this-name')
    })
  })

  it('[H-AUD-2] what an entry quotes stands in its pane as it is, and names nobody', async () => {
    const { node, seeded } = stage()
    // Somebody is called as the account of another one is numbered.
    const username = seeded.accounts.nora ?? ''
    const { id } = await node.client.consoleAccounts.create({ body: { username } })
    await stage().with(async ({ page, open }) => {
      await open('/audit?action=accounts.create')
      await page.locator('tbody tr[data-row="0"]').click()
      const pane = page.getByRole('complementary', { name: 'Audit entry' })
      await pane.getByText(`username=${username}`, { exact: true }).waitFor()
      expect(await pane.getByRole('link', { name: 'nora' }).count()).toBe(0)
      await node.client.consoleAccounts.delete({ params: { id } })
    })
  })

  it('[H-AUD-7] all entries are exported, however many are loaded', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/audit?action=accounts.wallet')
      const text = await exported(page, 'JSON lines, one entry a line')
      const entries = text.trimEnd().split('\n')
      expect(entries.length).toBeGreaterThanOrEqual(changes)
      const parsed = entries.map((line): { action: string } => JSON.parse(line))
      expect(new Set(parsed.map(({ action }) => action))).toEqual(
        new Set(['accounts.wallet.adjust']),
      )
      const ofCsv = (await exported(page, 'CSV, for spreadsheets')).trimEnd().split('\r\n')
      expect(ofCsv[0]).toMatch(/^time,time_unix_ms,actor_type,actor,/)
      expect(ofCsv).toHaveLength(entries.length + 1)
    })
  })

  it('[H-ADM-4] an export that is refused waits, and goes on where it was', async () => {
    await stage().with(async ({ page, open }) => {
      let refusals = 1
      await page.route('**/console/v1/audit?*after=*', (route) => {
        if (refusals === 0) return route.continue()
        refusals -= 1
        return route.fulfill({
          status: 429,
          headers: { 'content-type': 'application/json', 'retry-after': '7' },
          body: '{"code":"rate_limited","message":"too many"}',
        })
      })
      await open('/audit?action=accounts.wallet')
      await page.getByRole('button', { name: 'Export' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Export' }).click()
      await dialog.getByText(/s are left/).waitFor()
      await dialog.getByText('500 entries read').waitFor()
      const partial = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Save what was read' }).click()
      expect(await linesOf(await (await partial).path())).toHaveLength(500)
      const whole = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Go on' }).click()
      const lines = await linesOf(await (await whole).path())
      expect(lines.length).toBeGreaterThanOrEqual(changes)
      expect(new Set(lines).size).toBe(lines.length)
    })
  })
}

async function exported(page: Page, format: string): Promise<string> {
  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(format).click()
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export' }).click()
  const file = await (await download).path()
  await dialog.getByText(/entries saved, back to/).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  return readFile(file, 'utf8')
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).trimEnd().split('\n')
}
