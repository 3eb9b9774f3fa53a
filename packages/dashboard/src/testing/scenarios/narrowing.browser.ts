import { expect, it } from 'vitest'
import type { LiveStage } from '../stage.ts'

/** Lists are narrowed to what is looked for, and shown as this browser wants it. */
export function narrowingTests(stage: () => LiveStage): void {
  it('lines are found by their text and time, and what was searched is said', async () => {
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open('/logs')
      const table = page.getByRole('table', { name: 'Log lines' })
      await table.getByText('the round is over').first().waitFor()
      await page.getByLabel('Message contains').fill('round is')
      await expect.poll(() => page.url()).toContain('text=round+is')
      await expect.poll(() => table.getByText('comes in').count()).toBe(0)
      await page.getByLabel('to (UTC)').fill('2020-01-01T00:00')
      await page.getByText('payloads are not').waitFor()
      expect(page.url()).toContain(`to=${Date.UTC(2020, 0, 1)}`)
      await page.getByText(/^read \d+ s ago$/).waitFor()
      expect(await violations()).toEqual([])
      // A line would have the id, where the name is shown.
      await page.getByLabel('Message contains').fill('ana')
      await page.getByRole('button', { name: 'Lines with the id of ana' }).click()
      await expect.poll(() => page.url()).toContain(`text=${stage().seeded.accounts.ana}`)
      expect(complaints).toEqual([])
    })
  })

  it('purchases are counted by product, and a name picks the user', async () => {
    await stage().with(async ({ page, open, violations }) => {
      await open('/purchases')
      await page.getByText('Sums').click()
      const sums = page.getByRole('table', { name: 'Sums by product and store' })
      await sums.getByText('season-pass').click()
      await expect.poll(() => page.url()).toContain('product=season-pass')
      await page.getByText('2 purchases of 2 users.').waitFor()
      expect(await violations()).toEqual([])
      await page.getByLabel('User', { exact: true }).fill('ana')
      await page.getByText('1 purchase of 1 user.').waitFor()
      expect(page.url()).toMatch(/user=user-/)
      await page.getByLabel('User', { exact: true }).fill('nobody-of-this-name')
      await page.getByText('No account has this').waitFor()
      await page.getByText('0 purchases of 0 users.').waitFor()
    })
  })

  it('times are of UTC or of this place, rows are dense or not, and it is kept', async () => {
    await stage().with(async ({ page, open, violations }) => {
      await open('/logs')
      const row = page.locator('tbody tr[data-row="0"]')
      await row.click()
      const pane = page.getByRole('complementary', { name: 'Log line' })
      await pane.getByText(/\d\.\d{3}Z/).waitFor()
      const height = async () => (await row.boundingBox())?.height ?? 0
      const roomy = await height()
      await page.getByRole('button', { name: 'admin' }).click()
      await page.getByRole('button', { name: 'local' }).click()
      await page.getByRole('button', { name: 'dense' }).click()
      expect(await violations()).toEqual([])
      await pane.getByText(/\d\.\d{3}[+-]\d\d:\d\d/).waitFor()
      expect(await height()).toBeLessThan(roomy)
      await page.reload()
      await pane.getByText(/\d\.\d{3}[+-]\d\d:\d\d/).waitFor()
      await page.getByLabel('From (local time)').waitFor()
      expect(await height()).toBeLessThan(roomy)
    })
  })
}
