import { expect, it } from 'vitest'
import type { Stage } from '../stage.ts'

const rows = 10_000

const observeLongTasks = `
  globalThis.longTasks = []
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTasks.push(duration)
  }).observe({ type: 'longtask' })
`

const observeMostRows = `
  globalThis.mostRows = 0
  new MutationObserver(() => {
    mostRows = Math.max(mostRows, document.querySelectorAll('[data-row]').length)
  }).observe(document.body, { childList: true, subtree: true })
`

export function sizeTests(stage: () => Stage): void {
  it('a table of 10,000 rows holds few of them, also while it scrolls', async () => {
    await stage().with(async ({ page, open }) => {
      await page.route('**/console/v1/audit?*', (route) => {
        const entries = Array.from({ length: rows }, (_, index) => ({
          time_unix_ms: 1_763_700_000_000 + index,
          actor_type: 'human',
          actor: `operator-${index}`,
          role: 'admin',
          action: 'groups.create',
          target: String(index),
          details: `name=group ${index}`,
        }))
        const body = { entries, retained: rows, capacity: rows, durable: false, dropped_total: 0 }
        return route.fulfill({ json: body })
      })
      await open('/audit')
      await page.getByText('operator-0', { exact: true }).waitFor()
      await expect.poll(() => page.locator('[data-row]').count()).toBeLessThan(100)
      await page.evaluate(observeLongTasks)
      await page.evaluate(observeMostRows)
      await page.locator('.table-frame').hover()
      const longest: number[] = []
      for (const direction of [1, -1, 1]) {
        for (let turn = 0; turn < 12; turn += 1) await page.mouse.wheel(0, direction * 30_000)
        await page.waitForTimeout(200)
        longest.push(await page.evaluate<number>('Math.max(0, ...longTasks.splice(0))'))
      }
      await page.locator('[data-row]').first().focus()
      await page.keyboard.press('End')
      await page.getByText('operator-9999', { exact: true }).waitFor()
      process.stdout.write(`longest tasks while 10,000 rows scrolled: ${longest.join(', ')} ms\n`)
      const most = await page.evaluate<number>('mostRows')
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThan(100)
    })
  })

  it('a megabyte of JSON is shown folded, and edited', async () => {
    await stage().with(async ({ page, open }) => {
      const items = Array.from({ length: 4_000 }, (_, index) => ({ index, text: 'x'.repeat(90) }))
      const params = { collection: 'big', key: 'one' }
      await stage().node.client.storage.put({ params, query: {}, body: { value: { items } } })
      await open('/storage?collection=big&key=one')
      await page.getByText('[4000]').waitFor()
      await expect.poll(() => page.locator('.json .leaf').count()).toBeLessThan(1_000)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByText(/lines, /).waitFor()
    })
  })

  it('[H-OPS-1] JSON full of ids asks for the names of those that are in sight', async () => {
    const { node, seeded } = stage()
    await stage().with(async ({ page, open }) => {
      const asked: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/usernames?')) asked.push(request.url())
      })
      const id = (n: number) => `user-${n.toString(16).padStart(32, '0')}`
      const texts = Array.from({ length: 200 }, (_, text) => [
        ...Array.from({ length: 40 }, (_, at) => id(40 * text + at)),
        ...(text === 199 ? [seeded.accounts.ana] : []),
      ])
      const value = { texts: texts.map((ids) => ids.join(' ')) }
      await node.client.storage.put({
        params: { collection: 'big', key: 'ids' },
        query: {},
        body: { value },
      })
      await open('/storage?collection=big&key=ids')
      await page.getByText('[200]').click()
      await page.getByTitle(`No account has this id: ${id(0)}`).waitFor()
      expect(asked.length).toBeLessThan(20)
      await page.locator('.json .leaf').last().scrollIntoViewIfNeeded()
      await page.locator('.json').getByRole('link', { name: 'ana', exact: true }).waitFor()
      expect(asked.length).toBeLessThan(40)
    })
  })

  it('everything of a table works by keyboard, and the focus comes back', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/groups')
      await page.getByText('Red Team').waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('d Team')
      // The list that the filter brings begins anew, without the focus.
      await page.getByText('Blue Team').waitFor({ state: 'detached' })
      await page.getByText('Red Team').waitFor()
      await page.locator('[data-row="0"]').focus()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('End')
      await page.keyboard.press('Home')
      await page.keyboard.press('Enter')
      await page.getByRole('complementary', { name: 'Group' }).waitFor()
      await page.getByRole('button', { name: 'Edit' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      const focused = await page.evaluate<string>('document.activeElement.textContent')
      expect(focused).toBe('Edit')
      await page.keyboard.press('Escape')
      await page.getByRole('complementary').waitFor({ state: 'detached' })
      await page.goBack()
      await page.getByRole('complementary', { name: 'Group' }).waitFor()
    })
  })
}
