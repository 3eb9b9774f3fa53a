import { createPlayer } from '@guildhall/client'
import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import type { LiveStage } from '../stage.ts'

/** Whatever an operator has of a thing leads to it. */
export function findingTests(stage: () => LiveStage): void {
  it('[H-OPS-4] the palette finds each kind of thing by its name or id', async () => {
    const { node, played, seeded } = stage()
    const query = { limit: 10 }
    const [match] = (await node.client.matchRecords.list({ query })).items
    const { dora = '' } = seeded.accounts
    const [line] = (await node.client.scriptLogs.list({ query })).items
    const found: readonly (readonly [text: string, option: RegExp, path: RegExp])[] = [
      ['weekl', /^weekly.*leaderboard/, /\/leaderboards\/weekly$/],
      ['cup-2', /^cup-2.*tournament/, /\/tournaments\/cup-2$/],
      ['guild/r', /^guild\/red.*channel/, /\/chat\/guild%2Fred$/],
      ['setti', /^settings.*collection/, /\/storage\?collection=settings$/],
      ['open-du', /^open-duel.*room/, /\/rooms\/\d+$/],
      ['finished-du', /^finished-duel …\d{4}.*match record/, /\/match-records\/mt1-/],
      [String(played.open.id), /^Room \d+.*room/, /\/rooms\/\d+$/],
      ['T-1', /exactly this id.*transaction/, /\/purchases\/T-1$/],
      [match?.match_id ?? '', /^mt1-.*match record/, /\/match-records\/mt1-/],
      [line?.log_id ?? '', /^ml1-.*log line/, /\/logs\/ml1-/],
      ['ana the', /^ana · Ana the Bold.*account/, /\/accounts\/user-/],
      ['dor', /^dora.*account/, /\/accounts\/user-/],
      [dora, /^dora.*account/, new RegExp(`/accounts/${dora}$`)],
      [`direct/${dora}`, /^direct\/dora\/emil.*channel/, /\/chat\/direct%2Fuser-/],
      ['ora', /^All accounts with this/, /\/accounts\?filter=ora$/],
      ['round is', /^Lines of the script/, /\/logs\?text=round/],
      ['Red T', /^Red Team.*group/, /\/groups\/\d+$/],
      // What somebody gave a name to is called by that, and not by the name of another.
      [dora.slice(0, 16), new RegExp(`^${dora}.*group`), /\/groups\/\d+$/],
    ]
    const { id } = await node.client.groups.create({ body: { name: dora } })
    await stage().with(async ({ page, open, complaints }) => {
      await open('')
      await page.getByText('Background tasks').first().waitFor()
      for (const [text, option, path] of found) {
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox', { name: 'Search' }).fill(text)
        await page.getByRole('option', { name: option }).first().click()
        await expect.poll(() => page.url()).toMatch(path)
      }
      await page.keyboard.press('Control+k')
      await page.keyboard.type('create a g')
      await page.getByRole('option', { name: /Create a group/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: 'New group' }).waitFor()
      expect(complaints).toEqual([])
    })
    await node.client.groups.delete({ params: { id } })
  })

  it('[H-OPS-4] an id that says what it is of is searched for nowhere', async () => {
    const [match] = (await stage().node.client.matchRecords.list({ query: { limit: 1 } })).items
    await stage().with(async ({ page, open }) => {
      await open('/config')
      await page.getByText('http.bind').or(page.getByText('bind')).first().waitFor()
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).fill(match?.match_id ?? '')
      await page.getByRole('option', { name: /match record/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('Timeline').first().waitFor()
      const searched = asked.filter((path) => /accounts$|search$|groups$|chat$/.test(path))
      expect(searched).toEqual([])
    })
  })

  it('[H-OPS-4] accounts are found by what players say of themselves, in lists and in fields', async () => {
    const player = createPlayer(stage().node.url)
    const { user_id } = await player.signIn.email({
      ...{ email: 'Support.Case@example.com', password: 'a long password' },
      ...{ create: true, username: 'the-case' },
    })
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open('/accounts')
      await page.getByText('Ana the Bold').waitFor()
      await page.getByLabel('Find by').selectOption('display name')
      await page.getByLabel('Display name begins with').fill('ANA')
      await expect.poll(() => rowsOf(page)).toEqual(['ana'])
      await page.getByLabel('Find by').selectOption('username')
      await page.getByLabel('Username begins with').fill('an')
      await expect.poll(() => rowsOf(page)).toEqual(['ana'])
      await page.getByLabel('Find by').selectOption('e-mail')
      await page.getByLabel('E-mail, the whole of it').fill('support.case@EXAMPLE.com')
      await expect.poll(() => rowsOf(page)).toEqual(['the-case'])
      await page.getByLabel('Find by').selectOption('state and time')
      await page.getByLabel(/^State/).selectOption('banned')
      await expect.poll(() => rowsOf(page)).toEqual(['gus'])
      expect(await violations()).toEqual([])
      await page.getByText('gus').click()
      await page.getByRole('heading', { level: 1 }).getByText('gus').waitFor()
      await page.goBack()
      await expect.poll(() => rowsOf(page)).toEqual(['gus'])

      await open('/purchases?new=yes')
      const account = page.getByRole('dialog').getByLabel('Account')
      const offered = page.getByRole('dialog').locator('datalist option')
      const named = [
        ['ana the', 'ana', 'Ana the Bold'],
        ['SUPPORT.case@example.com', 'the-case', 'SUPPORT.case@example.com'],
        ['dor', 'dora', stage().seeded.accounts.dora],
      ] as const
      for (const [typed, username, words] of named) {
        await account.fill(typed)
        await expect.poll(() => offered.allTextContents()).toEqual([words])
        expect(await offered.getAttribute('value')).toBe(username)
      }
      // The address of one is what another is called.
      const address = 'support.case@example.com'
      await stage().node.client.consoleAccounts.create({ body: { username: address } })
      await account.fill(address)
      await expect.poll(() => offered.count()).toBe(2)
      await page.getByRole('dialog').getByRole('button', { name: 'Validate' }).click()
      await page.getByText('the e-mail of another: type an id').waitFor()
      await account.fill('nobody-of-this-name')
      await page.getByText('No name begins like this').waitFor()
      expect(await offered.count()).toBe(0)

      await open('/purchases')
      await page.getByLabel('User', { exact: true }).fill('support.case@EXAMPLE.com')
      await expect.poll(() => page.url()).toContain(`user=${user_id}`)
      expect(complaints).toEqual([])
    })
  })
}

async function rowsOf(page: Operator['page']): Promise<(string | null)[]> {
  const rows = page.getByRole('table', { name: 'Accounts' }).locator('tbody tr[data-row]')
  return rows.locator('td:nth-child(2)').allTextContents()
}
