import { readFile } from 'node:fs/promises'
import { int64Max, type JsonObject } from '@guildhall/contract'
import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { viewer } from '../served-node.ts'
import type { LiveStage, Stage } from '../stage.ts'

type Within = Pick<Locator, 'getByRole'>

/** Lists that become files, and a file that becomes objects. */
export function exportTests(stage: () => Stage, live: () => LiveStage): void {
  // Its end comes while other tests run.
  beforeAll(() => playSeason(live()))

  it('accounts are exported as the list shows them, by a viewer too', async () => {
    const work = async ({ page, open }: { page: Page; open(path: string): Promise<unknown> }) => {
      await open('/accounts?filter=ana')
      await page.getByRole('link', { name: 'ana', exact: true }).waitFor()
      const [head, ...rows] = (await exported(page, page, /^CSV/)).trimEnd().split('\r\n')
      expect(head).toBe(
        'id,username,display_name,state,created_at,created_at_unix_ms,updated_at,updated_at_unix_ms',
      )
      expect(rows.every((row) => row.includes('ana'))).toBe(true)
      expect(rows.some((row) => row.split(',')[1] === 'ana')).toBe(true)
    }
    await stage().with(work, { as: viewer })
  })

  it('[H-OPS-1] a board is exported with the names of its players', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards/weekly')
      const ranks = page.getByRole('region', { name: 'Ranks' })
      const lines = (await exported(page, ranks, /^CSV/)).trimEnd().split('\r\n')
      expect(lines[0]).toMatch(/^rank,username,user_id,score,subscore,/)
      expect(lines.some((line) => /^\d+,\w+,user-[^,]+,\d+,/.test(line))).toBe(true)
    })
  })

  it('the results of a season are exported, all digits of a score', async () => {
    const { node, seeded } = live()
    const { nora, mia } = seeded.accounts
    const params = { id: 'season' }
    const stateOf = async () => (await node.client.tournaments.get({ params })).state
    await expect.poll(stateOf).toBe('completed')
    await live().with(async ({ page, open }) => {
      await open('/tournaments/season')
      const results = page.getByRole('region', { name: 'Results' })
      expect((await exported(page, results, /^CSV/)).trimEnd().split('\r\n')).toEqual([
        'rank,username,user_id,score,subscore,tournament_id',
        `1,nora,${nora},9223372036854775807,-1,season`,
        `2,mia,${mia},5,0,season`,
      ])
    })
  })

  it('bookings are exported from the wallet', async () => {
    await stage().with(async ({ page, open }) => {
      const { node, seeded } = stage()
      const id = seeded.accounts.nora ?? ''
      const body = { currency: 'export', delta: 5, reason: 'for the file' }
      await node.client.wallet.adjust({ params: { id }, body })
      await open(`/accounts/${id}?tab=wallet`)
      const text = await exported(page, page.locator('.card', { hasText: 'Ledger' }), /^JSON lines/)
      expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({ user_id: id, ...body })
    })
  })

  it('[H-OPS-1] purchases are exported as they are filtered, with names', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/purchases?product=season-pass')
      await page.getByRole('cell', { name: 'T-1', exact: true }).waitFor()
      const [head, ...rows] = (await exported(page, page, /^CSV/)).trimEnd().split('\r\n')
      expect(head).toBe(
        'validated_at,validated_at_unix_ms,transaction_id,username,user_id,product_id,store,' +
          'subscription_expiry,subscription_expiry_unix_ms,receipt_sha256',
      )
      const { ana, ben } = stage().seeded.accounts
      expect(rows.map((row) => row.split(',').slice(2, 7)).toSorted()).toEqual([
        ['T-1', 'ana', ana, 'season-pass', 'store_a'],
        ['T-2', 'ben', ben, 'season-pass', 'store_a'],
      ])
    })
  })

  it('an export that was stopped reads nothing more, is saved so far, and goes on', async () => {
    const row = (id: string) =>
      `{"user_id":"u","transaction_id":"${id}","product_id":"p","store":"store_a",` +
      `"validated_at_unix_ms":1,"receipt_sha256":"${'0'.repeat(64)}"}`
    const pages: Record<string, string> = {
      '': `{"items":[${row('one')}],"next_after":"one"}`,
      one: `{"items":[${row('two')}],"next_after":"two"}`,
      two: `{"items":[${row('three')}]}`,
    }
    const second = Promise.withResolvers<void>()
    const asked: string[] = []
    await stage().with(async ({ page, open }) => {
      await page.route('**/purchase-search?*', async (route) => {
        const after = new URL(route.request().url()).searchParams.get('after') ?? ''
        if (after !== '') asked.push(after)
        if (after === 'one') await second.promise
        await route.fulfill({ contentType: 'application/json', body: pages[after] ?? '' })
      })
      await open('/purchases')
      await page.getByRole('button', { name: 'Export' }).click()
      const dialog = page.getByRole('dialog')
      const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
      const saved = async (name: string) => {
        const download = page.waitForEvent('download')
        await press(name)
        const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\n')
        return lines.map((line) => JSON.parse(line).transaction_id)
      }
      await press('Export')
      await dialog.getByText('1 purchase read.').waitFor()
      await press('Stop')
      second.resolve()
      await dialog.getByText('2 purchases read.').waitFor()
      expect(await saved('Save what was read')).toEqual(['one', 'two'])
      expect(asked).toEqual(['one'])
      expect(await saved('Go on')).toEqual(['one', 'two', 'three'])
      await dialog.getByText('3 purchases saved.').waitFor()
    })
  })

  it('objects go out and come in again, after a dry run', async () => {
    await stage().with(async ({ page, open }) => {
      const { client } = stage().node
      const put = (key: string, value: JsonObject) =>
        client.storage.put({ params: { collection: 'carried', key }, query: {}, body: { value } })
      await put('one', { n: 1 })
      await put('two', { n: 2 })
      await open('/storage?collection=carried')
      const text = await exported(page, page, /^JSON lines/)
      expect(text.trimEnd().split('\n')).toHaveLength(2)
      await client.storage.delete({ params: { collection: 'carried', key: 'one' }, query: {} })
      await put('two', { n: 22 })

      await page.getByRole('button', { name: 'Import', exact: true }).click()
      const dialog = page.getByRole('dialog')
      const store = dialog.getByRole('button', { name: 'Import', exact: true })
      await choose(dialog, `${text}no JSON\n`)
      await dialog.getByRole('button', { name: 'Dry run' }).click()
      await dialog.getByText('Dry run, up to line 3: 1 new, 2 refused.').waitFor()
      await dialog.getByText('Line 2: the object exists').waitFor()
      await dialog.getByText('Line 3: is no JSON object').waitFor()
      expect(await store.isDisabled()).toBe(true)

      await choose(dialog, text)
      await dialog.getByLabel('is replaced').check()
      await dialog.getByRole('button', { name: 'Dry run' }).click()
      await dialog.getByText('Dry run, up to line 2: 1 new, 1 replaced.').waitFor()
      await store.click()
      await dialog.getByText('Stored, up to line 2: 1 new, 1 replaced.').waitFor()
      await dialog.getByRole('button', { name: 'Close' }).last().click()
      await page.getByText('one', { exact: true }).waitFor()
      const params = { collection: 'carried', key: 'two' }
      expect((await client.storage.get({ params, query: {} })).value).toEqual({ n: 2 })
    })
  })
}

/** Two players enter a tournament that ends in eight seconds, and one has the largest score. */
async function playSeason({ node: { client }, seeded: { accounts } }: LiveStage): Promise<void> {
  const params = { id: 'season' }
  await client.leaderboards.create({ body: params })
  const endMs = Date.now() + 8_000
  await client.tournaments.create({
    body: {
      ...{ id: 'season', leaderboard_id: 'season', registration_opens_at_unix_ms: 0 },
      ...{ registration_closes_at_unix_ms: endMs, starts_at_unix_ms: endMs },
      ends_at_unix_ms: endMs,
    },
  })
  await client.tournaments.transition({ params, body: { state: 'registration_open' } })
  const scores = { nora: { score: int64Max, subscore: -1 }, mia: { score: 5, subscore: 0 } }
  for (const [name, score] of Object.entries(scores)) {
    const user_id = accounts[name] ?? ''
    const payload = JSON.stringify({ cup: 'season', user_id })
    await client.runtime.rpc({ params: { method: 'enter' }, body: { payload } })
    await client.leaderboards.submit({ params, body: { user_id, ...score } })
  }
  await client.tournaments.transition({ params, body: { state: 'running' } })
}

async function choose(dialog: Locator, text: string): Promise<void> {
  const file = { name: 'objects.jsonl', mimeType: 'text/plain', buffer: Buffer.from(text) }
  await dialog.getByLabel('File').setInputFiles(file)
}

/** What the file holds that the button within writes. */
async function exported(page: Page, within: Within, format: RegExp): Promise<string> {
  await within.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(format).click()
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Export' }).click()
  const file = await (await download).path()
  await dialog.getByText(/ saved/).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  return readFile(file, 'utf8')
}
