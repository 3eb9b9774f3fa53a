import { readFile } from 'node:fs/promises'
import type { JsonObject } from '@guildhall/contract'
import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { viewer } from '../served-node.ts'
import type { Stage } from '../stage.ts'

type Within = Pick<Locator, 'getByRole'>

/** Lists that become files, and a file that becomes objects. */
export function exportTests(stage: () => Stage): void {
  it('[H-OPS-8] accounts are exported as the list shows them, by a viewer too', async () => {
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

  it('[H-OPS-1] [H-OPS-8] a board is exported with the names of its players', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/leaderboards/weekly')
      const ranks = page.getByRole('region', { name: 'Ranks' })
      const lines = (await exported(page, ranks, /^CSV/)).trimEnd().split('\r\n')
      expect(lines[0]).toMatch(/^rank,username,user_id,score,subscore,/)
      expect(lines.some((line) => /^\d+,\w+,user-[^,]+,\d+,/.test(line))).toBe(true)
    })
  })

  it('[H-OPS-8] the results of a season are exported, all digits of a score', async () => {
    await stage().with(async ({ page, open }) => {
      const user_id = stage().seeded.accounts.nora ?? ''
      const first = `{"tournament_id":"cup-2","user_id":"${user_id}","rank":1,`
      const body = `{"items":[${first}"score":9223372036854775807,"subscore":-1}],"total":1}`
      await page.route('**/tournaments/cup-2/results', (route) =>
        route.fulfill({ contentType: 'application/json', body }),
      )
      await open('/tournaments/cup-2')
      const results = page.getByRole('region', { name: 'Results' })
      expect((await exported(page, results, /^CSV/)).trimEnd().split('\r\n')).toEqual([
        'rank,username,user_id,score,subscore,tournament_id',
        `1,nora,${user_id},9223372036854775807,-1,cup-2`,
      ])
    })
  })

  it('[H-OPS-8] bookings are exported from the wallet', async () => {
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

  it('[H-OPS-8] objects go out and come in again, after a dry run', async () => {
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
