import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import { hostileName, turningName } from '../seed.ts'
import type { Stage } from '../stage.ts'

const refusals = [
  [403, 'forbidden', 'Not allowed'],
  [404, 'not_found', 'Not found'],
  [429, 'rate_limited', 'Try again in'],
  [500, 'internal_error', 'The node failed (500)'],
  [501, 'not_implemented', 'Not available here'],
  [503, 'runtime_unavailable', 'Not available now'],
] as const

export function troubleTests(stage: () => Stage): void {
  it.each(refusals)('a %s is a state of its own', async (status, code, words) => {
    await stage().with(async ({ page, open }) => {
      await page.route('**/console/v1/groups?*', (route) =>
        route.fulfill({
          status,
          headers: { 'content-type': 'application/json', 'retry-after': '30' },
          body: JSON.stringify({ code, message: code }),
        }),
      )
      await open('/groups')
      await page.getByRole('alert').getByText(words).waitFor()
    })
  })

  it('a node that is gone is shown, and what was read stays', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/groups')
      await page.getByText('Red Team').waitFor()
      await page.route('**/status', (route) => route.abort())
      await page.route('**/console/**', (route) => route.abort())
      // Whoever comes back to the page wants to know how it is now.
      await page.waitForTimeout(1_100)
      await page.evaluate(
        `document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
      )
      await page.getByText('no connection').waitFor()
      await expect.poll(() => page.getByText('Red Team').count()).toBe(1)
    })
  })

  it('times are those of the node, whatever the clock of the browser says', async () => {
    const work = async ({ page, open }: Operator) => {
      await page.addInitScript(`{
        const RealDate = Date
        const offset = -400 * 86_400_000
        Date = class extends RealDate {
          constructor(...given) {
            if (given.length === 0) super(RealDate.now() + offset)
            else super(...given)
          }
          static now() { return RealDate.now() + offset }
        }
      }`)
      await open('/accounts')
      await page.getByText('Ana the Bold').waitFor()
      // By the browser's own clock the seed would be of next year.
      await expect.poll(() => page.locator('main time').first().textContent()).toMatch(/ago|now/)
    }
    await stage().with(work, { alone: true })
  })

  it('times in 1970, in 2262 and beyond all dates are shown', async () => {
    await stage().with(async ({ page, open, complaints }) => {
      await open('/tournaments/far')
      const pane = page.getByRole('complementary')
      await pane.getByText('1970-01-01 00:00:00.000Z').waitFor()
      await pane.getByText('2262-04-11 00:00:00.000Z').waitFor()
      await pane.getByText('beyond all dates').waitFor()
      expect(complaints).toEqual([])
    })
  })

  it('[H-GEN-15] integers at both ends are typed, stored and shown, and no others', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards/sprint')
      const send = async (user: string, score: string) => {
        await page.getByRole('button', { name: 'Submit' }).click()
        const form = page.getByRole('dialog')
        await form.getByLabel('User').fill(user)
        await form.getByLabel('Score', { exact: true }).fill(score)
        await form.getByRole('button', { name: 'Submit' }).click()
      }
      const anyway = page.getByRole('button', { name: 'Submit anyway' })
      await send('too-much', '9223372036854775808')
      await page.getByRole('dialog').locator('.problem').first().waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
      await page.getByRole('button', { name: 'Discard' }).click()
      await send('lowest', '-9223372036854775808')
      await anyway.click()
      await page.getByRole('cell', { name: '-9,223,372,036,854,775,808' }).waitFor()
      await send('highest', '9223372036854775807')
      await anyway.click()
      await page.getByRole('cell', { name: '9,223,372,036,854,775,807', exact: true }).waitFor()
    })
  })

  it('a name that nobody can type is confirmed by the action', async () => {
    await stage().with(async ({ page, open }) => {
      await open(`/accounts/${stage().seeded.accounts[turningName]}`)
      await page.getByRole('button', { name: 'Delete' }).click()
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
      expect(await confirm.isDisabled()).toBe(true)
      await page.getByLabel('Type delete to confirm').fill('delete')
      expect(await confirm.isEnabled()).toBe(true)
    })
  })

  it('a 409 of a form stands beside it, and what was typed stays', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards?new=yes')
      await page.getByLabel('Id', { exact: true }).fill('weekly')
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      await page.getByText('In conflict with what is stored').waitFor()
      await expect.poll(() => page.getByLabel('Id', { exact: true }).inputValue()).toBe('weekly')
      // It was about what stood there then.
      await page.getByLabel('Id', { exact: true }).fill('weekly-2')
      await expect.poll(() => page.getByText('In conflict with what is stored').count()).toBe(0)
    })
  })

  it('stored text is only ever text', async () => {
    await stage().with(async ({ page, open, complaints }) => {
      await open('/accounts')
      await page.getByText(hostileName, { exact: true }).waitFor()
      await expect.poll(() => page.locator('img').count()).toBe(0)
      // What would turn the line round is shown by its number.
      await page.getByText('U+202E').waitFor()
      const id = stage().seeded.accounts[turningName]
      await open(`/accounts/${id}`)
      await page.getByRole('heading', { level: 1 }).getByText('U+202E').waitFor()
      expect(complaints).toEqual([])
    })
  })

  it('[H-STO-6] two editors of one object: the second sees the difference', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/storage?collection=settings&key=season')
      await page.getByRole('button', { name: 'Edit' }).click()
      const value = page.getByLabel('Value', { exact: true })
      await value.fill('{"max_party": 8, "season": 7, "doubled": false}')
      const params = { collection: 'settings', key: 'season' }
      const theirs = { max_party: 4, season: 8, doubled: true }
      await stage().node.client.storage.put({ params, query: {}, body: { value: theirs } })
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Somebody changed this object meanwhile').waitFor()
      const diff = await page.getByRole('region', { name: 'Difference' }).textContent()
      expect(diff).toContain('-   "season": 8')
      await page.getByRole('button', { name: 'Overwrite with mine' }).click()
      await page.getByRole('button', { name: 'Edit' }).waitFor()
      const stored = await stage().node.client.storage.get({ params, query: {} })
      expect(stored.value).toEqual({ max_party: 8, season: 7, doubled: false })
    })
  })

  it('[H-IDM-1] what is sent again after a lost answer has the same key', async () => {
    await stage().with(async ({ page, open }) => {
      const keys: (string | undefined)[] = []
      await page.route('**/wallet', async (route) => {
        if (route.request().method() !== 'POST') return route.continue()
        keys.push(route.request().headers()['idempotency-key'])
        if (keys.length > 1) return route.continue()
        // The change arrives, its answer does not.
        await route.fetch()
        return route.abort()
      })
      await open(`/accounts/${stage().seeded.accounts.ivo}?tab=wallet`)
      await page.getByRole('button', { name: 'Adjust' }).click()
      await page.getByLabel('Currency', { exact: true }).fill('gold')
      await page.getByLabel('Change', { exact: true }).fill('10')
      await page.getByRole('button', { name: 'Book' }).click()
      await page.getByText('The node does not answer').waitFor()
      await page.getByRole('button', { name: 'Book' }).click()
      await page.getByRole('cell', { name: '+10' }).waitFor()
      expect(keys).toHaveLength(2)
      expect(keys[0]).toMatch(/^dashboard-\d+-\d+$/)
      expect(keys[1]).toBe(keys[0])
      await expect.poll(() => page.getByRole('cell', { name: '+10' }).count()).toBe(1)
    })
  })

  it('bulk actions say what failed, and keep it picked', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts')
      await page.getByRole('checkbox', { name: 'Pick otto' }).check()
      await page.getByRole('checkbox', { name: 'Pick pia' }).check()
      await page.getByRole('button', { name: 'Ban', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Ban', exact: true }).click()
      const summary = page.getByRole('dialog', { name: '1 failed' })
      await summary.getByText('otto').waitFor()
      await summary.getByRole('button', { name: 'Close' }).click()
      await page.getByText('1 account picked').waitFor()
    })
  })
}
