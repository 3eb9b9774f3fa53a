import { createPlayer } from '@guildhall/client'
import { expect, it, onTestFinished } from 'vitest'
import type { LiveStage } from '../stage.ts'

/** Sections that show what a running game does: a script, rooms and players are there. */
export function liveTests(stage: () => LiveStage): void {
  it('[H-MAT-1] rooms are shown as they are, and members as they come', async () => {
    const { node, played } = stage()
    await stage().with(async ({ page, open }) => {
      await open('/rooms')
      await page.getByText('matchmaker: 0 waiting').waitFor()
      await page.getByRole('row').getByText('open-duel', { exact: true }).click()
      const pane = page.getByRole('complementary', { name: 'Room' })
      await pane.getByText('2 of 4').waitFor()
      // The mode was given by the script, as a text that looks like HTML.
      await pane.getByText('<b>duel</b>').waitFor()
      const player = createPlayer(node.url)
      await player.signIn.device({ id: 'late-comer', create: true, username: 'late' })
      const connection = await player.connect()
      await connection.rooms.join(played.open.id)
      await pane.getByText('3 of 4').waitFor()
      await connection.close()
      await pane.getByText('2 of 4').waitFor()
      await pane.getByRole('listitem').first().getByRole('link').click()
      await page.getByRole('heading', { level: 1 }).getByText('player-1').waitFor()
    })
  })

  it('[R-STA-7] the state of a room is a tree that follows, and stays as it was unfolded', async () => {
    const { node } = stage()
    const player = createPlayer(node.url)
    await player.signIn.device({ id: 'board-player', create: true, username: 'board-player' })
    const connection = await player.connect()
    const room = await connection.rooms.joinOrCreate('board-1', { mode: 'board' })
    onTestFinished(() => void connection.close())
    await stage().with(async ({ page, open, complaints }) => {
      await open(`/rooms/${room.id}`)
      await page.getByRole('button', { name: 'Show its state' }).click()
      const tree = page.getByRole('region', { name: 'State' })
      await tree.getByText('moves').waitFor()
      await expect.poll(() => tree.textContent()).toContain('moves: 0')
      await tree.getByText('{2}').last().click()
      await expect.poll(() => tree.textContent()).not.toContain('<i>king</i>')
      await tree.getByText('{2}').last().click()
      await tree.getByText('<i>king</i>').waitFor()
      room.send(102, 'move')
      await expect.poll(() => tree.textContent()).toContain('moves: 1')
      await tree.getByText('<i>king</i>').waitFor()
      expect(complaints).toEqual([])
    })
  })

  it('[H-LOG-4] [H-LOG-5] a match has its time line, from its opening to its end', async () => {
    await stage().with(async ({ page, open, complaints }) => {
      await open('/match-records')
      await page.getByRole('row').getByText('finished-duel', { exact: true }).click()
      const moments = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem')
      await moments.last().getByText('closed').waitFor()
      const titles = (await moments.locator('.badge').allTextContents()).toSorted()
      expect(titles).toEqual([
        'closed',
        'info duel',
        'info duel',
        'opened',
        'telemetry round',
        'warn duel.round',
      ])
      await expect.poll(() => moments.first().textContent()).toContain('opened')
      await page.getByText('"<i>ana</i>"').waitFor()
      await page.getByText('2 markers, 1 accepted, 1 rejected').waitFor()
      expect(complaints).toEqual([])
    })
  })

  it('[H-LOG-1] [H-OPS-1] lines of the script are filtered and read, with exact integers', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/logs')
      await page.getByText('comes in').first().waitFor()
      await page.getByLabel('Level').selectOption('warn')
      await expect.poll(() => page.getByText('comes in').count()).toBe(0)
      expect(new URL(page.url()).searchParams.get('level')).toBe('warn')
      const over = page.getByRole('row').filter({ hasText: 'the round is over' })
      await over.getByRole('link', { name: /^finished-duel …\d{4}$/ }).waitFor()
      await over.getByText('the round is over').click()
      await page.getByText('9007199254740993').waitFor()
      await page.goBack()
      await page.getByRole('complementary').waitFor({ state: 'detached' })
    })
  })

  it('[H-RUN-2] RPCs are called, and the last calls stay at hand', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/runtime')
      await page.getByRole('code').getByText('on_match_join').waitFor()
      const form = page.locator('form')
      await form.getByLabel('Method').fill('roll')
      await form.getByLabel('Payload').fill('{"n": 41}')
      await form.getByRole('button', { name: 'Call' }).click()
      const calls = page.getByRole('list', { name: 'Calls, newest first' }).getByRole('listitem')
      await calls.getByText('{"n":41}').waitFor()
      await form.getByLabel('Method').fill('boom')
      await form.getByRole('button', { name: 'Call' }).click()
      await calls.first().getByText('failed').waitFor()
      await expect.poll(() => calls.first().textContent()).toContain('RPC handler error')
      await calls.first().getByText('the dice fell off the <table>').waitFor()
      // Nothing says in green that it was called.
      expect(await page.locator('.toast').allTextContents()).toEqual(['Called rollDismiss'])
      await calls.last().getByRole('button', { name: 'Again' }).click()
      await expect.poll(() => form.getByLabel('Method').inputValue()).toBe('roll')
    })
  })

  it('[S-VIEW-3] a script that throws is in sight, with its place, until it was looked at', async () => {
    const { client } = stage().node
    const rpc = { params: { method: 'late_boom' }, body: { payload: '' } }
    await stage().with(async ({ page, open, violations }) => {
      await open('/runtime')
      await page.getByRole('heading', { name: 'Failures of handlers' }).waitFor()
      await open('')
      const card = page.getByRole('table', { name: 'Script failures' })
      const menu = page.getByRole('navigation', { name: 'Sections' })
      await page.getByText('Background tasks').waitFor()
      await client.runtime.rpc(rpc)
      await client.runtime.rpc(rpc)
      const row = card.getByRole('row').filter({ hasText: 'the table fell on the dice' })
      await row.getByText('new', { exact: true }).waitFor()
      await row.getByText(/^main\.ts:\d+$/).waitFor()
      expect(await row.getByRole('cell').nth(1).textContent()).toBe('2')
      await menu.getByRole('link', { name: /^Runtime *[12] new$/ }).waitFor()
      await menu.getByRole('link', { name: /Runtime/ }).click()
      const failures = page.getByRole('table', { name: 'Failures of handlers' })
      const known = failures.getByRole('row').filter({ hasText: 'the table fell on the dice' })
      await known.getByText('new', { exact: true }).waitFor()
      expect(await violations()).toEqual([])
      await known.click()
      await page.getByRole('dialog', { name: 'on_rpc late_boom' }).waitFor()
      await page.keyboard.press('Escape')
      await page
        .getByRole('table', { name: 'Activations and rejections' })
        .getByText('boot')
        .waitFor()
      await menu.getByRole('link', { name: 'Overview' }).click()
      await row.waitFor()
      expect(await menu.getByText(/new$/).count()).toBe(0)
      expect(await card.getByText('new', { exact: true }).count()).toBe(0)
    })
  })

  it('[H-TEL-1] the machine and the slices of the script are measured', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/telemetry')
      await page.getByRole('img', { name: /Processor/ }).waitFor()
      await page.getByText(/free$/).waitFor()
      const row = page.getByRole('row').filter({ hasText: 'round' }).first()
      await row.getByText('finished', { exact: true }).waitFor()
    })
  })

  it('[H-DBX-4] tables are filtered and read, and credentials are not', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/database')
      await page.getByRole('row').getByText('accounts', { exact: true }).click()
      await page.getByLabel('Filter').selectOption('username')
      await page.getByLabel('Value').fill('ana')
      await page.getByRole('button', { name: 'Add' }).click()
      await page.locator('[data-row="0"]').getByText('Ana the Bold', { exact: true }).waitFor()
      await expect.poll(() => page.locator('[data-row]').count()).toBe(1)
      await page.locator('[data-row="0"]').click()
      const pane = page.getByRole('complementary', { name: 'Row' })
      await pane.getByText('9223372036854775807').waitFor()
    })
  })

  it('[H-CFG-1] settings say where they came from', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/config?set=environment')
      await page.getByText('environment GUILDHALL_HTTP__BIND').waitFor()
      await expect
        .poll(() => page.getByText('default', { exact: true }).locator('visible=true').count())
        .toBe(0)
      await page.getByLabel('Part of a key').fill('viewer_password')
      await page.getByText('redacted').waitFor()
    })
  })

  it('heads of the plots hold large numbers', async () => {
    await stage().with(async ({ page, open }) => {
      await page.route('**/status', async (route) => {
        const response = await route.fetch()
        const status: { metrics: Record<string, number> } = await response.json()
        const { metrics } = status
        const calls = (metrics.http_requests_total ?? 0) * 1_000
        const more = { http_requests_total: calls, http_request_microseconds_total: calls * 9e8 }
        const large = { connections_active: 1_234_567, sessions_active: 1_234_567 }
        await route.fulfill({
          response,
          json: { ...status, metrics: { ...metrics, ...more, ...large } },
        })
      })
      await open('')
      const head = page.locator('.card-head').filter({ hasText: 'Answer time' })
      await head.getByText(/\d{3},\d{3} ms/).waitFor()
      // Neither beyond the card nor squeezed: a value stays on one line, beside its name.
      const broken = `[...document.querySelectorAll('.card-head')]
        .filter((head) => head.scrollWidth > head.clientWidth ||
          [...head.querySelectorAll('h2, .swatch, .plot-now')].some((one) => {
            const text = document.createRange()
            text.selectNodeContents(one)
            return new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size > 1
          }) ||
          [...head.querySelectorAll('.legend')].some(({ children }) => {
            const [name, value = name] = [...children].map((one) => one.getBoundingClientRect().top)
            return Math.abs(value - name) > 8
          }))
        .map((one) => one.textContent)`
      expect(await page.evaluate<string[]>(broken)).toEqual([])
    })
  })

  it('the overview counts what happens, and leads to what has failed', async () => {
    await stage().with(async ({ page, open }) => {
      await open('')
      const card = (title: string) =>
        page
          .locator('.card')
          .filter({ has: page.getByRole('heading', { name: title, exact: true }) })
      await card('Rooms').locator('.plot-now').getByText('1').waitFor()
      await card('Connections').locator('.plot-now').first().getByText('2').waitFor()
      await card('Answer time').locator('.plot-now').first().getByText(/\d ms/).waitFor()
      await page.getByText('database ok').waitFor()
      await card('Recent audit entries').getByRole('link', { name: 'all' }).click()
      await page.getByRole('heading', { level: 1, name: 'Audit' }).waitFor()
    })
  })
}
