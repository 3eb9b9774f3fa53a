import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { int64Max } from '@guildhall/contract'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Desk, openDesk } from '../operator.ts'
import { type ServedNode, serveNode, viewer } from '../served-node.ts'
import type { Stage } from '../stage.ts'

const bookings = 100_000
const grouped = (value: bigint) => value.toLocaleString('en-US')

/** What the browser says when a read of the explorer ended after 5 s. */
const tookTooLong = /status of 504/

/** The number and the text of the last row that is drawn, at one moment. */
const lastRow = `(() => {
  const row = [...document.querySelectorAll('[data-row]')].at(-1)
  return [Number(row.dataset.row), row.textContent]
})()`

/**
 * Waits for what the explorer shows, and asks again as a person would: its reads end after 5 s,
 * and on a busy machine its thread goes last.
 */
async function untilExplored(page: Page, wanted: Locator): Promise<void> {
  const again = page.getByRole('button', { name: 'Try again' })
  await expect
    .poll(
      async () => {
        if (await again.isVisible()) await again.click()
        return wanted.isVisible()
      },
      { timeout: 40_000, interval: 200 },
    )
    .toBe(true)
}

/** A node on a file that holds an account of 100,000 bookings, and then lacks a table. */
export function realStoreTests(stage: () => Stage): void {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-real-store-'))
  const file = join(folder, 'node.db')
  const settings = {
    GUILDHALL_DATABASE__URL: `sqlite:${file}`,
    GUILDHALL_WALLET__LEDGER_RETENTION: '1000000',
  }
  let node: ServedNode
  let atPage: Desk
  let id = ''

  /** Changes the file while no node has it. */
  async function between(work: (db: DatabaseSync) => void): Promise<void> {
    await atPage.close()
    await node.stop()
    const db = new DatabaseSync(file)
    work(db)
    db.close()
    node = await serveNode(settings)
    atPage = openDesk(stage().browser, node)
  }

  beforeAll(async () => {
    node = await serveNode(settings)
    atPage = openDesk(stage().browser, node)
    id = (await node.client.consoleAccounts.create({ body: { username: 'old-hand' } })).id
    const first = int64Max - BigInt(bookings) + 1n
    const body = { currency: 'gold', delta: first, reason: 'the first booking' }
    await node.client.wallet.adjust({ params: { id }, body })
    await between((db) => {
      db.exec('BEGIN')
      const book = db.prepare(
        `INSERT INTO wallet_ledger
          (user_id, currency, delta, balance_after, reason, time_unix_ms)
        WITH RECURSIVE n (number) AS
          (SELECT 1 UNION ALL SELECT number + 1 FROM n WHERE number < :more)
        SELECT :id, 'gold', 1, :first + number, 'booking ' || number, :now_ms + number FROM n`,
      )
      book.run({ more: bookings - 1, id, first, now_ms: Date.now() - bookings })
      db.prepare('UPDATE wallet_balances SET balance = :last').run({ last: int64Max })
      db.exec('COMMIT')
    })
  })

  afterAll(async () => {
    await atPage?.close()
    await node?.stop()
    rmSync(folder, { recursive: true })
  })

  it('[H-WAL-1] [H-DBX-4] an account of 100,000 bookings shows them all, page by page', async () => {
    await atPage(async ({ page, open, complaints }) => {
      await open(`/accounts/${id}?tab=wallet`)
      const ledger = page.getByRole('table', { name: 'Ledger' })
      const newest = ledger.locator('[data-row="0"]')
      await newest.getByText(`booking ${bookings - 1}`, { exact: true }).waitFor()
      await newest.getByText('9,223,372,036,854,775,807').waitFor()
      await expect.poll(() => ledger.getAttribute('aria-rowcount')).toBe('100')
      await page.getByRole('link', { name: 'all', exact: true }).click()
      const rows = page.getByRole('table', { name: 'Rows of wallet_ledger' })
      const newestRow = rows.locator('[data-row="0"]').getByText(`booking ${bookings - 1}`)
      await untilExplored(page, newestRow)
      await rows.locator('[data-row="0"]').focus()
      let [at, text] = [0, '']
      await expect
        .poll(async () => {
          await page.keyboard.press('End')
          ;[at, text] = await page.evaluate<[number, string]>(lastRow)
          return at
        })
        .toBeGreaterThan(1000)
      expect(text).toContain(`booking ${bookings - 1 - at}`)
      expect(text).toContain(grouped(int64Max - BigInt(at)))
      // What names a row is no amount.
      expect(text).toMatch(new RegExp(`(?:^|\\D)${bookings - at}(?:\\D|$)`))
      expect(await rows.locator('[data-row]').count()).toBeLessThan(100)
      await page.getByLabel('Order').selectOption('ascending')
      const oldest = rows.locator('[data-row="0"]')
      await untilExplored(page, oldest.getByText('the first booking'))
      const first = grouped(int64Max - BigInt(bookings) + 1n)
      expect(await oldest.getByText(first, { exact: true }).count()).toBe(2)
      expect(complaints.filter((each) => !tookTooLong.test(each))).toEqual([])
    })
  })

  it('[H-DBX-5] filters hold integers of 64 bits, in the address as well', async () => {
    await atPage(async ({ page, open, complaints }) => {
      await open('/database?table=wallet_ledger')
      await untilExplored(page, page.getByLabel('Filter'))
      await page.getByLabel('Filter').selectOption('balance_after')
      await page.getByLabel('Value').fill(String(int64Max - 1n))
      await page.getByRole('button', { name: 'Add' }).click()
      const rows = page.locator('[data-row]')
      const found = rows.getByText(`booking ${bookings - 2}`, { exact: true })
      await untilExplored(page, found)
      await expect.poll(() => rows.count()).toBe(1)
      await page.reload()
      await untilExplored(page, found)
      await expect.poll(() => rows.count()).toBe(1)
      expect(complaints.filter((each) => !tookTooLong.test(each))).toEqual([])
    })
  })

  it('[H-ACC-8] its export is a file of seconds, with the exact balance', async () => {
    await atPage(async ({ page, open }) => {
      await open(`/accounts/${id}?tab=wallet`)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export', exact: true }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      expect(text).toMatch(/"gold": ?9223372036854775807\b/)
    })
  })

  it('[H-ERR-1] a request that fails stands in the error journal and on the overview', async () => {
    await between((db) => db.exec('ALTER TABLE friend_edges RENAME TO friend_edges_away'))
    await atPage(async ({ page, open }) => {
      await open('/errors')
      await page.getByText('No errors').waitFor()
      await open(`/accounts/${id}?tab=friends`)
      await page.getByRole('alert').getByText('The node failed (500)').waitFor()
      await open('/errors')
      const row = page.getByRole('table', { name: 'Errors' }).locator('[data-row="0"]')
      await row.getByText('request failed').waitFor()
      await row.click()
      const pane = page.getByRole('complementary', { name: 'Incident' })
      await pane.getByText('http', { exact: true }).waitFor()
      const { entries } = await node.client.errorJournal.list({ query: {} })
      expect(entries).toHaveLength(1)
      await pane.getByText(entries[0]?.fingerprint ?? 'none').waitFor()
      await page.reload()
      await pane.getByText(entries[0]?.fingerprint ?? 'none').waitFor()
      await page.goBack()
      await pane.waitFor({ state: 'detached' })
      await open('')
      const recent = page.getByRole('table', { name: 'Recent errors' }).locator('[data-row="0"]')
      await recent.getByText('request failed').waitFor()
    })
    await atPage(
      async ({ page, open }) => {
        await open('/errors')
        await page.locator('[data-row="0"]').getByText('request failed').waitFor()
      },
      { as: viewer },
    )
  })
}
