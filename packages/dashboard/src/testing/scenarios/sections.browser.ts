import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import { requestsOf } from '../requests.ts'
import type { Stage } from '../stage.ts'

export function sectionTests(stage: () => Stage): void {
  it('[H-ACC-3] [H-ACC-5] [H-ACC-6] accounts are created, edited, banned and deleted', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts?new=yes')
      await page.getByLabel('Username', { exact: true }).fill('newcomer')
      await submit(page, 'Create')
      await page.getByRole('heading', { level: 1 }).getByText('newcomer').waitFor()
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Display name', { exact: true }).fill('The New One')
      await submit(page, 'Save')
      await page.getByText('The New One').waitFor()
      await page.getByRole('button', { name: 'Ban' }).click()
      await submit(page, 'Ban')
      await page.getByText('banned', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
      expect(await confirm.isDisabled()).toBe(true)
      await page.getByLabel('Type newcomer to confirm').fill('newcomer')
      await confirm.click()
      await page.getByText('deleted', { exact: true }).waitFor()
    })
  })

  it('[H-ACC-4] an edit sends what was changed alone, and takes nothing back', async () => {
    const { node, seeded } = stage()
    const params = { id: seeded.accounts.kai ?? '' }
    await stage().with(async ({ page, open }) => {
      await open(`/accounts/${params.id}`)
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByLabel('Display name', { exact: true }).fill('Kai the Second')
      // The game changes something else of it meanwhile.
      const metadata = { level: 99 }
      await node.client.consoleAccounts.update({ params, body: { metadata } })
      await submit(page, 'Save')
      await page.getByText('Kai the Second').first().waitFor()
      const stored = await node.client.consoleAccounts.get({ params })
      expect(stored).toMatchObject({ display_name: 'Kai the Second', metadata })
      const { entries } = await node.client.audit.list({ query: { limit: 1 } })
      expect(entries[0]?.details).toBe('fields=display_name')
    })
  })

  it('[H-WAL-2] a wallet is adjusted, and a debit beyond it is refused in words', async () => {
    await stage().with(async ({ page, open }) => {
      await open(`/accounts/${stage().seeded.accounts.cem}?tab=wallet`)
      await page.getByRole('button', { name: 'Adjust' }).click()
      await page.getByLabel('Currency', { exact: true }).fill('gold')
      await page.getByLabel('Change', { exact: true }).fill('-1')
      await page.getByRole('button', { name: 'Book' }).click()
      await page.getByText('In conflict with what is stored').waitFor()
      await page.getByLabel('Change', { exact: true }).fill('9223372036854775807')
      await submit(page, 'Book')
      await page.getByRole('cell', { name: '+9,223,372,036,854,775,807' }).waitFor()
    })
  })

  it('[H-KEY-1] the secret of a key is shown once', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/api-keys?new=yes')
      await page.getByLabel('Name', { exact: true }).fill('ci')
      await page.getByRole('checkbox', { name: 'audit:read' }).check()
      await submit(page, 'Create')
      const secret = page.getByText(/^svc_k1_[0-9a-f]{32}_/)
      await secret.waitFor()
      await page.getByRole('button', { name: 'I have it' }).click()
      await page.getByRole('row').getByText('ci', { exact: true }).click()
      await page.getByRole('complementary').getByText('audit:read').waitFor()
      expect(await secret.count()).toBe(0)
    })
  })

  it('[H-TRN-3] a tournament is moved along its edges', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/tournaments/cup-1')
      await page.getByRole('button', { name: 'Open registration' }).click()
      await submit(page, 'Open registration')
      await page.getByRole('img', { name: 'The tournament is registration open' }).waitFor()
      await page.getByRole('button', { name: 'Cancel it' }).click()
      await page.getByLabel('Type cup-1 to confirm').fill('cup-1')
      await submit(page, 'Cancel it')
      await page.getByRole('img', { name: 'The tournament is cancelled' }).waitFor()
    })
  })

  it('[O-TRN-6] a tournament past its end that was never started is marked as overdue', async () => {
    const past = {
      registration_opens_at_unix_ms: 0,
      registration_closes_at_unix_ms: 1,
      starts_at_unix_ms: 2,
      ends_at_unix_ms: 3,
    }
    const { client } = stage().node
    for (const id of ['late-draft', 'late-open', 'late-off']) {
      await client.tournaments.create({ body: { id, leaderboard_id: 'weekly', ...past } })
    }
    const move = (id: string, state: 'registration_open' | 'cancelled') =>
      client.tournaments.transition({ params: { id }, body: { state } })
    await move('late-open', 'registration_open')
    await move('late-off', 'cancelled')
    await stage().with(async ({ page, open }) => {
      await open('/tournaments')
      const badges = (id: string) => page.getByRole('row', { name: id }).locator('.badge')
      await expect.poll(() => badges('late-draft').allTextContents()).toEqual(['draft', 'overdue'])
      expect(await badges('late-open').allTextContents()).toEqual(['registration open', 'overdue'])
      expect(await badges('late-off').allTextContents()).toEqual(['cancelled'])
      expect(await badges('cup-2').allTextContents()).toEqual(['registration open'])
      await page.getByRole('row', { name: 'late-open' }).click()
      await page.getByRole('complementary').getByText('it was never started').waitFor()
    })
  })

  it('[H-LDB-6] schedules that are not executed are not said to be run', async () => {
    await stage().with(async ({ page, open }) => {
      await open('')
      const fact = page.locator('.fact-strip > div').filter({ hasText: 'Scheduled boards' })
      await expect.poll(() => fact.locator('dd').textContent()).toBe('not executed')
      await open('/leaderboards/weekly')
      await page.getByText(/^not executed: leaderboards.execute_reset_schedules/).waitFor()
    })
  })

  it('[H-OPS-1] accounts stand by their names, which are read together', async () => {
    const { accounts } = stage().seeded
    await stage().with(async ({ page, open }) => {
      const asked: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/usernames?')) asked.push(request.url())
      })
      await open('/leaderboards/weekly')
      const ranks = page.getByRole('table', { name: 'Ranks' })
      const ana = ranks.getByRole('link', { name: 'ana', exact: true })
      expect(await ana.getAttribute('title')).toBe(`Ana the Bold\n${accounts.ana}`)
      // Users of a board need not be accounts, and lead nowhere then.
      await ranks.getByTitle('No account has this id: the-first').waitFor()
      expect(asked).toHaveLength(1)
      await open('/chat/lobby')
      await page
        .getByRole('list', { name: /^Messages/ })
        .getByRole('link', { name: 'ben' })
        .waitFor()
      await open(`/accounts/${accounts.ana}?tab=friends`)
      await page.getByRole('row').getByRole('link', { name: 'dora' }).waitFor()
      await open('/audit?action=accounts.friends.add')
      const trail = page.getByRole('table', { name: 'Audit trail' })
      await trail.getByRole('link', { name: 'ana', exact: true }).first().waitFor()
      expect(await trail.getByText(accounts.ana ?? '').count()).toBe(0)
      await open('/audit?action=accounts.delete')
      await trail.getByTitle(`This account is deleted\n${accounts.otto}`).first().waitFor()
      expect(await page.evaluate<string>(lineOfDeleted)).toBe('line-through')
    })
  })

  it('[H-AUD-4] what a node in memory does not keep is read once, as reading is audited', async () => {
    const work = async ({ page, open }: Operator) => {
      await page.clock.install()
      for (const [view, path] of [
        ['/logs', '/console/v1/log-search'],
        ['/match-records', '/console/v1/matchlogs'],
      ] as const) {
        const requests = requestsOf(page)
        await open(view)
        await page.getByText('Nothing is kept in memory').waitFor()
        await page.clock.runFor(10_000)
        await requests.answered()
        expect(requests.paths().filter((asked) => asked === path)).toEqual([path])
      }
    }
    await stage().with(work, { alone: true })
  })

  it('a list that ends at its newest rows does not say that they are all', async () => {
    await stage().with(async ({ page, open }) => {
      const row = (_: unknown, index: number) => ({
        ...{ transaction_id: `many-${index}`, user_id: 'somebody', product_id: 'pass' },
        ...{ store: 'store_a', expiry_unix_ms: 1, status: 'expired' },
      })
      let length = 200
      await page.route('**/console/v1/subscriptions?*', (route) =>
        route.fulfill({ json: { items: Array.from({ length }, row) } }),
      )
      await open('/subscriptions')
      await page.getByText('the newest 200', { exact: true }).waitFor()
      length = 199
      await page.getByTitle('Read again').click()
      await page.getByText('199', { exact: true }).waitFor()
      expect(await page.getByText('the newest').count()).toBe(0)
    })
  })

  it('[H-CHT-5] a message goes out as a player only when somebody says so', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/chat/lobby')
      await page.getByRole('button', { name: 'New message' }).click()
      const dialog = page.getByRole('dialog')
      const sender = dialog.getByLabel('Sender')
      expect(await sender.inputValue()).toBe('')
      await sender.fill('ana')
      await dialog.getByLabel('Message').fill('hello')
      await dialog.getByRole('button', { name: 'Send', exact: true }).click()
      await dialog.getByText(/^Players see it as written by the player ana/).waitFor()
      await dialog.getByRole('button', { name: 'Back' }).click()
      await sender.fill('the-house')
      await submit(page, 'Send')
      const messages = page.getByRole('list', { name: /^Messages/ })
      await messages.getByTitle('No account has this id: the-house').waitFor()
      expect(await messages.getByText('hello', { exact: true }).count()).toBe(1)
    })
  })

  it('[H-DBX-1] a database in memory is not asked for, and says why', async () => {
    await stage().with(async ({ page, open, complaints }) => {
      await open('/database?schema=main&table=accounts')
      await page.getByText('A database in memory cannot be read here').waitFor()
      expect(complaints).toEqual([])
    })
  })

  it('[H-CHT-5] messages are moderated in bulk', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/chat/lobby')
      await page.getByRole('checkbox', { name: 'Pick message 1' }).check()
      await page.getByRole('checkbox', { name: 'Pick message 2' }).check()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByLabel('Type delete 2 to confirm').fill('delete 2')
      await submit(page, 'Delete')
      await expect.poll(() => page.getByText('deleted, revision 2').count()).toBe(3)
    })
  })
}

/** What is drawn through the name of a deleted account. */
const lineOfDeleted = `getComputedStyle(
  document.querySelector('[data-account="tombstoned"] bdi')
).textDecorationLine`

/** Presses the button of the dialog, which then closes. */
async function submit(page: Operator['page'], name: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  const button = dialog.getByRole('button', { name, exact: true })
  await button.click()
  await button.waitFor({ state: 'detached' })
}
