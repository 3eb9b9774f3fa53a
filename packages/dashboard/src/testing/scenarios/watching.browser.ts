import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import type { LiveStage } from '../stage.ts'

/** What changes is seen without pressing anything, and moves nothing that is being read. */
export function watchingTests(stage: () => LiveStage): void {
  it('a list follows while it is at its top, and says what waits when it is not', async () => {
    const { client } = stage().node
    const change = (name: string) => client.groups.create({ body: { name } })
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open('/audit')
      const table = page.getByRole('table', { name: 'Audit trail' })
      await table.getByText('groups.create').first().waitFor()
      await change('Watched One')
      await expect.poll(() => firstRow(page), slowly).toContain('groups.create')
      await page.getByText(/^read \d+ s ago$/).waitFor()

      const place = () => page.evaluate<number>(`${frame}.scrollTop`)
      await page.evaluate(`${frame}.scrollTo({ top: 400 })`)
      expect(await place()).toBe(400)
      await change('Watched Two')
      await change('Watched Three')
      await client.leaderboards.create({ body: { id: 'watched' } })
      const waiting = page.getByRole('button', { name: '3 new lines' })
      await waiting.waitFor({ timeout: slowly.timeout })
      expect(await violations()).toEqual([])
      // The line of the button above it is all that moves.
      expect(await place()).toBe(400)
      await waiting.click()
      await expect.poll(() => firstRow(page)).toContain('leaderboards.create')
      expect(await waiting.count()).toBe(0)
      expect(complaints).toEqual([])
    })
  })

  it('a view that nobody touches asks little of the node', async () => {
    await stage().with(async ({ page, open }) => {
      await page.clock.install()
      for (const path of ['/audit', '/accounts']) {
        await open(path)
        await page
          .getByText(/^read \d+ s ago$/)
          .or(page.getByText('No '))
          .first()
          .waitFor()
        // A list that has just been opened is followed more often.
        await page.clock.runFor(90_000)
        let asked = 0
        const count = () => {
          asked += 1
        }
        page.on('request', count)
        for (let second = 0; second < 60; second += 5) {
          await page.clock.runFor(5_000)
          await page.waitForLoadState('networkidle')
        }
        page.off('request', count)
        expect([path, asked <= 12]).toEqual([path, true])
      }
    })
  })
}

const frame = "document.querySelector('.table-frame')"

/** Lists are read again every few seconds. */
const slowly = { timeout: 15_000 }

async function firstRow(page: Operator['page']): Promise<string> {
  return (await page.locator('tbody tr[data-row="0"]').textContent()) ?? ''
}
