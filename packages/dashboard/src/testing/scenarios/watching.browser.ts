import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { Operator } from '../operator.ts'
import { requestsOf } from '../requests.ts'
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
      await expect.poll(() => firstRow(page)).toContain('groups.create')
      await page.getByText(/^read \d+ s ago$/).waitFor()

      const place = () => page.evaluate<number>(`${frame}.scrollTop`)
      await page.evaluate(`${frame}.scrollTo({ top: 400 })`)
      expect(await place()).toBe(400)
      await change('Watched Two')
      await change('Watched Three')
      await client.leaderboards.create({ body: { id: 'watched' } })
      const waiting = page.getByRole('button', { name: '3 new lines' })
      await waiting.waitFor()
      expect(await violations()).toEqual([])
      // The line of the button above it is all that moves.
      expect(await place()).toBe(400)
      // Neither does coming back to the page after a while.
      const requests = requestsOf(page)
      await page.evaluate(comeBack)
      await expect.poll(() => requests.paths()).toContain('/console/v1/audit')
      await requests.answered()
      expect(await waiting.count()).toBe(1)
      await waiting.click()
      await expect.poll(() => firstRow(page)).toContain('leaderboards.create')
      expect(await waiting.count()).toBe(0)
      expect(complaints).toEqual([])

      await page.route('**/console/v1/audit?*', (route) => route.fulfill({ status: 500 }))
      await page.evaluate(comeBack)
      await page.getByText('The last reading failed.').waitFor()
      await page.unroute('**/console/v1/audit?*')
      await page.evaluate(comeBack)
      await page.getByText('The last reading failed.').waitFor({ state: 'detached' })
    })
  })

  it('coming back reads a list the more seldom, the more of its pages are there', async () => {
    await stage().with(async ({ page, open }) => {
      const text = { name: 'one of many', description: '' }
      const numbers = { member_count: 0, max_size: 0, created_at_unix_ms: 1, revision: 1 }
      await page.route('**/console/v1/groups?*', (route) => {
        const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
        const items = Array.from({ length: 200 }, (_, at) => ({
          id: offset + at,
          ...text,
          ...numbers,
        }))
        return route.fulfill({ json: { items, total: 800 } })
      })
      await open('/groups')
      await page.locator('[data-row="0"]').focus()
      await expect
        .poll(async () => {
          await page.keyboard.press('End')
          return page.getByText('800', { exact: true }).count()
        })
        .toBe(1)
      const requests = requestsOf(page)
      const asked = () => requests.paths().filter((path) => path === '/console/v1/groups').length
      await page.evaluate(comeBack)
      await expect.poll(() => requests.paths()).toContain('/status')
      await requests.answered()
      expect(asked()).toBe(0)
      await page.evaluate(comeBack)
      await expect.poll(asked).toBe(4)
    })
  })

  it('lines of the script follow, and twelve wait while somebody reads', async () => {
    const { client } = stage().node
    const say = (word: string, times: number) =>
      client.runtime.rpc({
        params: { method: 'say' },
        body: { payload: JSON.stringify({ word, times }) },
      })
    await say('before', 40)
    await stage().with(async ({ page, open, complaints }) => {
      await open('/logs')
      await expect.poll(() => firstRow(page)).toContain('before 40')
      await say('seen', 1)
      await expect.poll(() => firstRow(page)).toContain('seen 1')
      await page.evaluate(`${frame}.scrollTo({ top: 400 })`)
      await say('later', 12)
      const waiting = page.getByRole('button', { name: '12 new lines' })
      await waiting.waitFor()
      expect(await page.evaluate<number>(`${frame}.scrollTop`)).toBe(400)
      expect(await page.getByText('later 1', { exact: true }).count()).toBe(0)
      await waiting.click()
      await expect.poll(() => firstRow(page)).toContain('later 12')
      expect(complaints).toEqual([])
    })
  })

  it('[H-OPS-3] a fresh page has the past at once, of the range in the address, with marks', async () => {
    const { client } = stage().node
    const known = async () => {
      const { series } = await client.history.get({ query: { range: '5m' } })
      return series.connections_active?.filter((value) => value !== null).length ?? 0
    }
    await expect.poll(known).toBeGreaterThan(2)
    await stage().with(async ({ page, open }) => {
      await open('')
      // What the page reads from here on would become lines as well.
      await page.route('**/status', () => undefined)
      await expect.poll(() => page.evaluate<number>(lineWidth)).toBeGreaterThan(0.02)
      const marks = page.getByRole('list', { name: 'Marks in the plots' })
      for (const [words, range] of [
        ['24 h', '24h'],
        ['1 h', '1h'],
      ] as const) {
        await page.getByRole('button', { name: words }).click()
        await expect.poll(() => page.url()).toContain(`range=${range}`)
        await marks.getByText(/^the node started/).waitFor()
        await marks.getByText(/^revision/).waitFor()
      }
      await page.unroute('**/status')
      await page.reload()
      await page.getByRole('button', { name: '1 h', pressed: true }).waitFor()
      expect(await menuLink(page, 'Overview')).toBe('/dashboard')
    })
  })

  it('a script is read again after its node started anew between two readings', async () => {
    const work = async ({ page, open }: Operator) => {
      await page.clock.install()
      let uptime_seconds = 5_000
      await page.route('**/status', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...(await response.json()), uptime_seconds } })
      })
      const requests = requestsOf(page)
      await open('/runtime')
      await page.getByText('What the script registered').waitFor()
      /** How often the page asks for `path` while 20 seconds pass. */
      const readings = async (path = '/console/v1/runtime') => {
        requests.forget()
        for (let second = 0; second < 20; second += 1) {
          uptime_seconds += 1
          await page.clock.runFor(1_000)
          await requests.answered()
        }
        return requests.paths().filter((asked) => asked === path).length
      }
      /** The page is not looked at for ten minutes. */
      const later = async (uptime: number) => {
        uptime_seconds = uptime
        await page.clock.fastForward(600_000)
        return readings()
      }
      await readings()
      expect(await readings()).toBe(0)
      uptime_seconds = 3
      expect(await readings()).toBe(1)
      expect(await later(uptime_seconds + 600)).toBe(0)
      expect(await later(300)).toBe(1)

      // The overview reads the node every 2 s, and so sees two starts that follow each other.
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      const failures = '/console/v1/runtime/failures'
      await readings(failures)
      expect(await readings(failures)).toBe(0)
      uptime_seconds = 0
      expect(await readings(failures)).toBe(1)
    }
    await stage().with(work, { alone: true })
  })
}

/** What was read is older, and the page is looked at again. */
const comeBack = `
  Date.now = ((now) => () => now() + 10_000)(Date.now)
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
`

/** How far the line of open connections goes, as a part of its plot. */
const lineWidth = `(() => {
  const canvas = document.querySelector('[aria-label^="Connections:"] canvas')
  if (!canvas?.width) return 0
  const probe = document.body.appendChild(document.createElement('span'))
  probe.style.color = 'var(--plot-1)'
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
  probe.remove()
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  const isLine = (at) =>
    data[at + 3] > 60 && wanted.every((part, index) => Math.abs(part - data[at + index]) < 12)
  const columns = []
  for (let at = 0; at < data.length; at += 4) if (isLine(at)) columns.push((at / 4) % width)
  return (Math.max(...columns, 0) - Math.min(...columns, width)) / width
})()`

async function menuLink(page: Page, name: string): Promise<string | null> {
  const menu = page.getByRole('navigation', { name: 'Sections' })
  return menu.getByRole('link', { name }).getAttribute('href')
}

const frame = "document.querySelector('.table-frame')"

async function firstRow(page: Operator['page']): Promise<string> {
  return (await page.locator('tbody tr[data-row="0"]').textContent()) ?? ''
}
