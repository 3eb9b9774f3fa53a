import { beforeAll, expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import { expectInSight } from '../sight.ts'
import type { Stage } from '../stage.ts'

const foxes = ['swift_fox', 'swift_owl', 'swift_hare', 'swift_bat']

/** Windows that operators have: the height of all is under that of a list. */
const windows = [1440, 390]

/** An operator who changes filters under picks, goes back, and presses what is in sight. */
export function carelessTests(stage: () => Stage): void {
  const ids: Record<string, string> = {}

  beforeAll(async () => {
    const { client } = stage().node
    for (const username of foxes) {
      ids[username] = (await client.consoleAccounts.create({ body: { username } })).id
    }
    await client.leaderboards.create({ body: { id: 'long' } })
    for (let index = 0; index < 60; index += 1) {
      const sender = ids.swift_fox ?? ''
      const body = { sender, content: `line ${index}` }
      await client.chat.append({ params: { channel: 'long' }, body })
      const score = { user_id: `racer-${index}`, score: index }
      await client.leaderboards.submit({ params: { id: 'long' }, body: score })
    }
  })

  const statesOf = async () => {
    const { items } = await stage().node.client.consoleAccounts.list({
      query: { filter: 'swift_' },
    })
    return Object.fromEntries(items.map(({ username, state }) => [username, state]))
  }

  it('[H-ACC-5] picks end with the filter they were made under', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts?filter=swift_')
      const rows = page.getByRole('table', { name: 'Accounts' }).locator('[data-row]')
      await expect.poll(() => rows.count()).toBe(4)
      await page.getByLabel('Pick all that are loaded').check()
      const bar = page.getByRole('region', { name: 'Picked rows' })
      await bar.getByText('4 accounts picked').waitFor()
      const filter = page.getByLabel('Part of an id or username')
      await filter.fill('swift_fox')
      await expect.poll(() => rows.count()).toBe(1)
      expect(await bar.count()).toBe(0)
      await filter.fill('swift_')
      await expect.poll(() => rows.count()).toBe(4)
      expect(await bar.count()).toBe(0)
      await page.getByRole('checkbox', { name: 'Pick swift_fox' }).check()
      await bar.getByRole('button', { name: 'Ban', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Ban 1 account' })
      expect(await question.getByRole('listitem').allTextContents()).toEqual(['swift_fox'])
      await question.getByRole('button', { name: 'Ban' }).click()
      await question.waitFor({ state: 'detached' })
    })
    expect(await statesOf()).toMatchObject({ swift_fox: 'disabled', swift_owl: 'active' })
  })

  it('a picked row that is gone from the list is not picked any more', async () => {
    const { client } = stage().node
    const notes = ['first', 'second'].map((name) => `gone-${name}`)
    for (const subject of notes) await client.notifications.send({ body: { subject } })
    await stage().with(async ({ page, open }) => {
      await open('/notifications')
      for (const subject of notes) {
        await page.getByRole('checkbox', { name: new RegExp(`${subject}$`) }).check()
      }
      await page.getByText('2 notifications picked').waitFor()
      const { items } = await client.notifications.list({ query: {} })
      const gone = items.find(({ subject }) => subject === 'gone-first')
      await client.notifications.delete({ params: { id: String(gone?.id) } })
      // The list is read again after a change.
      await page.getByRole('button', { name: 'New notification' }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('Account').fill('swift_owl')
      await form.getByLabel('Subject').fill('gone-third')
      await form.getByRole('button', { name: 'Send' }).click()
      await page.getByText('1 notification picked').waitFor()
    })
  })

  it('[H-STO-7] picks and questions of one collection are never those of another', async () => {
    const { client } = stage().node
    for (const collection of ['loadouts', 'receipts']) {
      const params = { collection, key: 'main' }
      await client.storage.put({ params, query: {}, body: { value: { of: collection } } })
    }
    await stage().with(async ({ page, open }) => {
      await open('/storage?collection=receipts')
      await page.getByRole('row', { name: /main/ }).waitFor()
      await page.getByRole('button', { name: 'Storage', exact: true }).click()
      await page.getByRole('row', { name: /loadouts/ }).click()
      await page.getByRole('checkbox', { name: 'Pick main' }).check()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Delete 1 object' })
      await question.getByText(/gone from loadouts/).waitFor()
      // As one who holds the back button of the browser, and chooses.
      await page.evaluate('history.go(-2)')
      await page.getByRole('table', { name: 'Objects of receipts' }).waitFor()
      await page.getByRole('row', { name: /main/ }).waitFor()
      expect(await question.count()).toBe(0)
      expect(await page.getByText(/picked$/).count()).toBe(0)
      expect(await page.getByRole('checkbox', { name: 'Pick main' }).isChecked()).toBe(false)
    })
  })

  it.each(windows)('what is picked can be acted on in sight, %s pixels wide', async (width) => {
    const work = async ({ page, open }: Operator) => {
      const bar = page.getByRole('region', { name: 'Picked rows' })
      await open('/chat/long')
      await page.getByRole('checkbox', { name: 'Pick message 60' }).check()
      await expectInSight(bar.getByRole('button', { name: 'Delete' }))
      await page.getByRole('checkbox', { name: 'Pick message 1', exact: true }).check()
      await expectInSight(bar.getByRole('button', { name: 'Delete' }))
      await open('/leaderboards/long')
      await page.getByRole('checkbox', { name: 'Pick rank 1', exact: true }).check()
      await expectInSight(bar.getByRole('button', { name: 'Delete' }))
      await open('/accounts')
      await page.getByRole('checkbox', { name: 'Pick ana' }).check()
      await expectInSight(bar.getByRole('button', { name: 'Delete' }))
    }
    await stage().with(work, { width })
  })

  it('[H-LDB-5] no button beside picked records says only "Delete" and means the board', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards/long')
      await page.getByRole('checkbox', { name: 'Pick rank 2', exact: true }).check()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Delete 1 record' })
      await question.getByText('racer-58').waitFor()
      await question.getByLabel('Type delete 1 to confirm').fill('delete 1')
      await question.getByRole('button', { name: 'Delete' }).click()
      await question.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Delete board' }).click()
      await page.getByRole('dialog', { name: 'Delete the board long' }).waitFor()
    })
    const { total } = await stage().node.client.leaderboards.records({
      params: { id: 'long' },
      query: {},
    })
    expect(total).toBe(59)
  })

  it('[H-NTF-1] a notification names its receiver, and everybody is asked for', async () => {
    const { client } = stage().node
    const newest = async () => (await client.notifications.list({ query: { limit: 1 } })).items[0]
    await stage().with(async ({ page, open }) => {
      await open('/notifications?new=yes')
      const form = page.getByRole('dialog')
      const account = form.getByLabel('Account')
      const send = form.getByRole('button', { name: 'Send', exact: true })
      await form.getByLabel('Subject').fill('a gift')
      // Nothing is nobody, and not everybody.
      await send.click()
      await form.getByText('This is needed.').waitFor()
      await account.fill('swift_nobody')
      await send.click()
      await form.getByText('No account has this id, username or e-mail.').waitFor()
      expect((await newest())?.subject).not.toBe('a gift')
      await account.fill('swift_owl')
      await send.click()
      await form.waitFor({ state: 'detached' })
      expect(await newest()).toMatchObject({ subject: 'a gift', user_id: ids.swift_owl })
      await page.getByRole('button', { name: 'New notification' }).click()
      await form.getByLabel('Subject').fill('for all')
      await form.getByLabel('To').selectOption('everybody')
      await send.click()
      const sure = form.getByRole('button', { name: 'Send to everybody' })
      await sure.waitFor()
      expect((await newest())?.subject).toBe('a gift')
      await form.getByLabel('Subject').fill('for all of you')
      // What is changed is asked for again.
      await sure.waitFor({ state: 'detached' })
      await send.click()
      await form.getByText('“for all of you”').waitFor()
      await sure.click()
      await form.waitFor({ state: 'detached' })
      expect(await newest()).toMatchObject({ subject: 'for all of you', user_id: null })
    })
  })

  it('[H-LDB-2] a score is that of the account of a username; other ids are asked for', async () => {
    const { client } = stage().node
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards/long')
      await page.getByRole('button', { name: 'Submit' }).click()
      const form = page.getByRole('dialog')
      await form.getByLabel('User').fill('swift_hare')
      await form.getByLabel('Score', { exact: true }).fill('1000')
      await form.getByRole('button', { name: 'Submit' }).click()
      await form.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Submit' }).click()
      await form.getByLabel('User').fill('swift_nobody')
      await form.getByLabel('Score', { exact: true }).fill('2000')
      await form.getByRole('button', { name: 'Submit' }).click()
      await form.getByText('No account has this id, username or e-mail.').waitFor()
      await form.getByRole('button', { name: 'Submit anyway' }).waitFor()
    })
    const { items } = await client.leaderboards.records({ params: { id: 'long' }, query: {} })
    expect(items[0]).toMatchObject({ user_id: ids.swift_hare, score: 1000 })
  })

  it('rows of the filter before cannot be opened or picked', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts?filter=swift_')
      const row = page.getByRole('row', { name: /swift_bat/ })
      await row.waitFor()
      const box = await row.boundingBox()
      let answer = () => {}
      const isAnswered = new Promise<void>((resolve) => {
        answer = resolve
      })
      await page.route('**/console/v1/accounts?filter=red*', async (route) => {
        await isAnswered
        await route.continue()
      })
      await page.getByLabel('Part of an id or username').fill('red')
      await page.waitForRequest('**/console/v1/accounts?filter=red*')
      if (box === null) throw new Error('the row is in sight')
      await page.mouse.click(box.x + 20, box.y + box.height / 2)
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      expect(new URL(page.url()).pathname).toBe('/dashboard/accounts')
      expect(await page.getByText(/picked$/).count()).toBe(0)
      answer()
      await page.getByText('No account matches').waitFor()
    })
  })

  it('[H-FRD-4] nobody is kicked or removed at a click, and the question says who', async () => {
    const { client } = stage().node
    const { swift_owl = '', swift_hare = '' } = ids
    const { id } = await client.groups.create({ body: { name: 'Foxes' } })
    await client.groups.addMember({ params: { id }, body: { user_id: swift_owl } })
    await client.friends.add({ params: { id: swift_owl }, body: { user_id: swift_hare } })
    await stage().with(async ({ page, open }) => {
      await open(`/groups/${id}`)
      const pane = page.getByRole('complementary', { name: 'Group' })
      await pane.getByRole('row').filter({ hasText: 'swift_owl' }).waitFor()
      await pane.getByRole('button', { name: 'Kick' }).last().click()
      const kick = page.getByRole('dialog', { name: 'Kick swift_owl out of Foxes' })
      await kick.getByRole('button', { name: 'Cancel' }).click()
      const members = async () => (await client.groups.get({ params: { id } })).members
      expect((await members()).map(({ user_id }) => user_id)).toContain(swift_owl)
      await pane.getByRole('button', { name: 'Kick' }).last().click()
      await kick.getByRole('button', { name: 'Kick' }).click()
      await kick.waitFor({ state: 'detached' })
      expect((await members()).map(({ user_id }) => user_id)).not.toContain(swift_owl)
      await open(`/accounts/${swift_owl}?tab=friends`)
      await page.getByRole('button', { name: 'Remove' }).click()
      const title = 'Remove swift_hare from the relations of swift_owl'
      const remove = page.getByRole('dialog', { name: title })
      expect(await client.friends.list({ params: { id: swift_owl } })).toHaveLength(1)
      await remove.getByRole('button', { name: 'Remove' }).click()
      await remove.waitFor({ state: 'detached' })
      expect(await client.friends.list({ params: { id: swift_owl } })).toEqual([])
    })
  })

  it.each(windows)('back leads to the same place of a list, %s pixels wide', async (width) => {
    const { client } = stage().node
    const many = Array.from({ length: 260 }, (_, index) => `crowd-${1000 + index}-${width}`)
    for (const username of many) await client.consoleAccounts.create({ body: { username } })
    for (let index = 0; index < 60; index += 1) {
      await client.groups.create({ body: { name: `crowd ${index} of ${width}` } })
    }
    const work = async ({ page, open }: Operator) => {
      const top = () => page.evaluate<number>(`document.querySelector('.table-frame').scrollTop`)
      await open(`/accounts?filter=-${width}`)
      await page.getByText(many[0] ?? '').waitFor()
      await page.locator('[data-row="0"]').focus()
      // The second page is read on the way.
      await expect
        .poll(async () => {
          await page.keyboard.press('End')
          return page.getByText(many[250] ?? '').count()
        })
        .toBe(1)
      const place = await top()
      expect(place).toBeGreaterThan(5_000)
      await page.getByRole('link', { name: many[250] ?? '' }).click()
      await page
        .getByRole('heading', { level: 1 })
        .getByText(many[250] ?? '')
        .waitFor()
      await page.goBack()
      await page.getByRole('link', { name: many[250] ?? '' }).waitFor()
      expect(Math.abs((await top()) - place)).toBeLessThan(40)
      await open(`/groups?filter=of ${width}`)
      const group = page.getByRole('row').filter({ hasText: 'crowd 40 of' })
      await group.scrollIntoViewIfNeeded()
      const before = await top()
      expect(before).toBeGreaterThan(300)
      await group.click()
      await page.getByRole('complementary', { name: 'Group' }).waitFor()
      if (width > 1100) expect(await top()).toBe(before)
      await page.getByRole('button', { name: 'Close the pane' }).click()
      await group.waitFor()
      expect(await top()).toBe(before)
      // Another list begins at its top.
      await page.getByLabel('Part of a name').fill(`${width}`)
      await expect.poll(top).toBe(0)
    }
    await stage().with(work, { width })
  })

  it('a question about one account is never answered for another', async () => {
    await stage().with(async ({ page, open }) => {
      await open(`/accounts/${ids.swift_owl}`)
      await page.getByRole('heading', { level: 1 }).getByText('swift_owl').waitFor()
      await page.keyboard.press('Control+k')
      await page.keyboard.type('swift_hare')
      await page.getByRole('option', { name: /swift_hare/ }).click()
      await page.getByRole('heading', { level: 1 }).getByText('swift_hare').waitFor()
      await page.getByRole('button', { name: 'Ban', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Ban swift_hare' })
      await question.waitFor()
      await page.goBack()
      await page.getByRole('heading', { level: 1 }).getByText('swift_owl').waitFor()
      expect(await page.getByRole('dialog').count()).toBe(0)
    })
  })
}
