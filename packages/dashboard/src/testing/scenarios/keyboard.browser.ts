import { expect, it } from 'vitest'
import type { LiveStage } from '../stage.ts'

/** Sections with a table whose rows open beside it, or as a view of their own. */
const withPane = [
  ['Rooms', 'open-duel'],
  ['Groups', 'Red Team'],
  ['Chat', 'lobby'],
  ['Notifications', 'Welcome'],
  ['Leaderboards', 'weekly'],
  ['Tournaments', 'cup-1'],
  ['Match records', 'finished-duel'],
  ['Script logs', 'the round is over'],
  ['Purchases', 'season-pass'],
  ['Audit', 'console.login'],
  ['API keys', 'monitoring'],
] as const

const focusedText = `document.activeElement?.textContent ?? ''`

/** Nobody touches a mouse. */
export function keyboardTests(stage: () => LiveStage): void {
  it('every section is reached by its name, and takes the focus', async () => {
    await stage().with(async ({ page, open, complaints }) => {
      await open('')
      await page.getByRole('heading', { level: 1 }).waitFor()
      const labels = await page.locator('#nav .nav-label').allTextContents()
      expect(labels).toHaveLength(22)
      for (const label of labels) {
        await page.keyboard.press('Control+k')
        await page.keyboard.type(label)
        await page.getByRole('option', { name: label }).first().waitFor()
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: label, exact: true }).waitFor()
        await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
        // A step on leads into the page, not to its beginning.
        await page.keyboard.press('Tab')
        expect(await page.evaluate<string>('document.activeElement?.tagName')).not.toBe('BODY')
      }
      expect(complaints).toEqual([])
    })
  })

  it.each(withPane)('%s: a row opens and closes, and keeps the focus', async (label, text) => {
    await stage().with(async ({ page, open }) => {
      await open(`/${label.toLowerCase().replace('script ', '').replace(' ', '-')}`)
      const row = page.getByRole('row').filter({ hasText: text }).first()
      await row.waitFor()
      await row.focus()
      await page.keyboard.press('Enter')
      const pane = page.getByRole('complementary')
      await pane.waitFor()
      // From within the pane as from the table.
      await pane.getByRole('button', { name: 'Close the pane' }).focus()
      await page.keyboard.press('Escape')
      await pane.waitFor({ state: 'detached' })
      expect(await page.evaluate<string>(focusedText)).toContain(text)
    })
  })

  it('a skip link leads past the menu, and a dialog gives the focus back', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts')
      await page.getByText('Ana the Bold').waitFor()
      await page.locator('a').first().focus()
      expect(await page.evaluate<string>(focusedText)).toBe('Skip the menu')
      await page.keyboard.press('Enter')
      await expect
        .poll(() => page.evaluate<string>('document.activeElement?.id ?? ""'))
        .toBe('main')
      const create = page.getByRole('button', { name: 'New account' })
      await create.focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('Username').waitFor()
      await page.keyboard.type('half')
      await page.keyboard.press('Escape')
      // What was typed is not thrown away unasked.
      await page.getByText('Discard what you have typed?').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await page.evaluate<string>(focusedText)).toBe('New account')
    })
  })
}
