import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import { viewer } from '../served-node.ts'
import type { LiveStage } from '../stage.ts'

/** Lag diagnostics from the first click to the verdict, with players that record. */
export function lagTests(stage: () => LiveStage): void {
  /** One of the players talks to the other, evenly enough. */
  async function talk(page: Page): Promise<void> {
    for (let beat = 0; beat < 60; beat += 1) {
      stage().played.open.send(101, 'steer')
      await page.waitForTimeout(20)
    }
  }

  it('[L-START-6] [L-SRV-1] [L-CON-1] a room is recorded, and whose lag it is stands there', async () => {
    const { played } = stage()
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open(`/rooms/${played.open.id}`)
      await page.getByRole('button', { name: 'Start capture' }).click()
      const form = page.getByRole('dialog', { name: 'Start a capture: open-duel' })
      await form.getByText('without it, nothing is uploaded').waitFor()
      await form.getByLabel('Kinds of messages').fill('x')
      await form.getByRole('button', { name: 'Start' }).click()
      await form.getByText('Numbers of 0 to 65535').waitFor()
      await form.getByLabel('Kinds of messages').fill('101')
      await form.getByLabel('Direction').selectOption('both')
      await form.getByLabel('Sends per second').fill('50')
      expect(await violations()).toEqual([])
      await form.getByRole('button', { name: 'Start' }).click()

      await page.getByText('2 recording').waitFor()
      await page.getByText(/^end before \d\d:\d\d:\d\d UTC, or nothing is kept$/).waitFor()
      await page.getByRole('heading', { level: 1 }).getByText('open-duel').waitFor()
      await talk(page)
      await page.getByRole('button', { name: 'Who is it?' }).click()
      const recorders = page.getByRole('table', { name: 'Recorders' })
      await recorders.getByText('player-2').waitFor()
      expect(await violations()).toEqual([])
      await page.getByRole('button', { name: 'End and upload' }).click()
      const question = page.getByRole('dialog', { name: 'End the recording' })
      await question.getByRole('button', { name: 'End and upload' }).click()

      await page.getByText('2 uploaded').waitFor()
      const heard = page
        .getByRole('region', { name: /Participant/ })
        .filter({ hasText: 'player-2' })
      await heard.getByRole('img', { name: /Spacing over time, at most/ }).waitFor()
      await heard.getByRole('img', { name: /Spacings by length/ }).waitFor()
      await heard.getByText(/broken line: the median at the node, [\d.]+ ms/).waitFor()
      await heard
        .getByText('59 records', { exact: false })
        .or(heard.getByText(/60 records/))
        .waitFor()
      await pictures(page)
      expect(await violations()).toEqual([])
      const words = (await page.getByRole('main').textContent()) ?? ''
      expect(words).not.toMatch(/\bping\b|latency|\bloss\b|\blost packets?\b|round.trip/i)
      expect(complaints).toEqual([])
    })
  })

  it('[L-CON-3] a capture that ends appears among those that are over', async () => {
    const { client } = stage().node
    const call = async (method: string, payload: object) => {
      const body = { payload: JSON.stringify(payload) }
      const answer = await client.runtime.rpc({ params: { method }, body })
      return answer.ok ? JSON.parse(answer.reply) : expect.fail(answer.error)
    }
    const label = 'ends-later'
    const found = async () => (await client.lag.captures({ query: { label } })).items[0]
    const filters = [{ kind: 101, direction: 'inbound' }]
    const room_id = Number(stage().played.open.id)
    const started = await call('lag.start', { room_id, label, filters, duration_ms: 60_000 })
    await expect.poll(async () => (await found())?.recorders.recording).toBe(2)
    const work = async ({ page, open }: Operator) => {
      await page.clock.install()
      await open('/lag?state=over&label=ends-later')
      await page.getByText('No capture is like that').waitFor()
      await call('lag.flush', { capture_id: started.capture_id })
      await expect.poll(async () => (await found())?.state).toBe('sealed')
      await page.clock.runFor(16_000)
      await page.getByRole('row').getByText('ends-later').waitFor()
    }
    await stage().with(work, { alone: true })
  })

  it('[H-LAG-7] [L-CON-4] recordings are saved, analysed again and deleted; reports stay', async () => {
    await stage().with(async ({ page, open, violations }) => {
      await open('/lag?label=open-duel')
      await page.getByRole('row').getByText('open-duel', { exact: true }).click()
      const table = page.getByRole('table', { name: 'Recordings' })
      const rows = table.locator('[data-row]')
      await expect.poll(() => rows.count()).toBe(2)
      const saving = page.waitForEvent('download')
      await rows.first().getByRole('button', { name: 'Download' }).click()
      const file = await (await saving).path()
      expect(gunzipSync(readFileSync(file)).toString('latin1', 0, 4)).toBe('CLAG')

      await rows.first().getByRole('button', { name: 'Analyse again' }).click()
      const form = page.getByRole('dialog', { name: 'Analyse again' })
      await form.getByLabel('Parts of the time').fill('65')
      await form.getByRole('button', { name: 'Analyse' }).click()
      await form.getByText('From 1 to 64.').waitFor()
      await form.getByLabel('Parts of the time').fill('8')
      await form.getByRole('button', { name: 'Analyse' }).click()
      await page.getByText('The report is there').waitFor()
      await expect.poll(() => page.getByRole('region', { name: /Participant/ }).count()).toBe(3)

      await rows.first().getByRole('button', { name: 'Delete' }).click()
      const question = page.getByRole('dialog', { name: 'Delete a recording' })
      await question.getByRole('button', { name: 'Delete' }).click()
      await expect.poll(() => rows.count()).toBe(1)
      expect(await page.getByRole('region', { name: /Participant/ }).count()).toBe(3)
      expect(await violations()).toEqual([])
    })
  })

  it('[L-GEN-2] no account gives a capture its name', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts?filter=dora')
      await page.getByRole('row').getByRole('link', { name: 'dora' }).click()
      await page.getByRole('button', { name: 'Start capture' }).click()
      const form = page.getByRole('dialog', { name: 'Start a capture: dora' })
      expect(await form.getByLabel('Label').inputValue()).toBe('')
    })
  })

  it('[L-START-4] what is refused is said, and nothing is started', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/lag?new=yes')
      const form = page.getByRole('dialog', { name: 'Start a capture' })
      await form.getByLabel('Record').selectOption('one account')
      await form.getByLabel('Account', { exact: true }).fill('dora')
      await form.getByRole('button', { name: 'Start' }).click()
      await form.getByText('Nobody of them can record').waitFor()
    })
  })

  it('[L-CON-3] viewers see reports, and neither recordings nor what starts one', async () => {
    await stage().with(
      async ({ page, open, complaints }) => {
        await open('/lag')
        await page.getByRole('row').getByText('open-duel', { exact: true }).click()
        await page
          .getByRole('img', { name: /Spacing over time/ })
          .first()
          .waitFor()
        expect(await page.getByRole('table', { name: 'Recordings' }).count()).toBe(0)
        expect(await page.getByRole('button', { name: /capture|upload/i }).count()).toBe(0)
        expect(complaints).toEqual([])
      },
      { as: viewer },
    )
  })
}

/** With a folder named, what the page looks like in light, dark and narrow is kept there. */
async function pictures(page: Page): Promise<void> {
  const folder = process.env.LAG_PICTURES
  if (folder === undefined) return
  for (const [name, width, colorScheme] of [
    ['light', 1440, 'light'],
    ['dark', 1440, 'dark'],
    ['narrow', 390, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 1200 })
    await page.emulateMedia({ colorScheme })
    await writeFile(`${folder}/lag-${name}.png`, await page.screenshot())
  }
}
