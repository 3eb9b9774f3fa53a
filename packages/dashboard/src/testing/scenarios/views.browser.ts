import type { Route } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Operator, signedIn } from '../operator.ts'
import { requestsOf } from '../requests.ts'
import type { LiveStage } from '../stage.ts'

/** Every view, and something that only stands there once everything was read. */
const views: readonly (readonly [path: string, sign: string])[] = [
  ['', 'Background tasks'],
  ['/accounts', 'Ana the Bold'],
  ['/accounts/{ana}', 'No credential is linked'],
  ['/accounts/{ana}?tab=story', 'first purchase'],
  ['/accounts/{ana}?tab=wallet', '9,223,372,036,854,775,807'],
  ['/accounts/{ana}?tab=friends', 'invited'],
  ['/accounts/{ana}?tab=groups', 'Red Team'],
  ['/accounts/{ana}?tab=objects', 'slot-1'],
  ['/accounts/{ana}?tab=notifications', 'Welcome'],
  ['/accounts/{ana}?tab=chat', 'No channel has this id'],
  ['/accounts/{ana}?tab=purchases', 'season-pass'],
  ['/accounts/{ana}?tab=sessions', 'signed in nowhere'],
  ['/accounts/{player}?tab=sessions', 'connected'],
  ['/groups', 'Blue Team'],
  ['/groups/1', 'superadmin'],
  ['/chat', 'guild/red'],
  ['/chat/lobby', 'anyone for a round?'],
  ['/notifications', 'Maintenance at noon'],
  ['/storage', 'settings'],
  ['/storage?collection=saves&key=slot-1&owner={ana}', 'sword'],
  ['/leaderboards', 'weekly'],
  ['/leaderboards/weekly', '-9,223,372,036,854,775,808'],
  ['/tournaments', '2262-04-11'],
  ['/tournaments/cup-2', 'Nobody is registered'],
  ['/purchases', 'gems-100'],
  ['/purchases/T-1', 'SHA-256 of the receipt'],
  ['/subscriptions', 'expired'],
  ['/audit', 'scopes=telemetry:read'],
  ['/api-keys', 'monitoring'],
  ['/api-keys?new=yes', 'All are read-only'],
  ['/rooms', 'open-duel'],
  ['/rooms?filter=none', 'Matchmaker: 0 waiting'],
  ['/rooms/{room}', 'Members'],
  ['/nodes', 'live'],
  ['/lag', 'No captures yet'],
  ['/telemetry', 'finished'],
  ['/errors', 'No errors'],
  ['/match-records', 'finished-duel'],
  ['/match-records/{match}', 'the round is over'],
  ['/logs', 'the round is over'],
  ['/logs/{line}', 'Payload'],
  ['/runtime', 'What the script registered'],
  ['/database', 'admission_windows'],
  ['/database?schema=main&table=chat_messages', 'a word between us'],
  ['/config', 'environment GUILDHALL_RUNTIME__SCRIPTS_DIR'],
  ['/no-such-page', 'The address may be mistyped'],
]

export function viewTests(stage: () => LiveStage): void {
  let operator: Operator
  let requests: ReturnType<typeof requestsOf>
  let ids: Readonly<Record<string, string>>
  let known: readonly string[]

  beforeAll(async () => {
    operator = await signedIn(stage().browser, stage().node)
    await operator.page.clock.install()
    await operator.page.route('**/status', answerAsOld)
    requests = requestsOf(operator.page)
    ids = await idsOf(stage())
    known = [...Object.values(stage().seeded.accounts), stage().played.player]
  })

  afterAll(() => operator?.leave())

  /** What the page's `clock` does, which would be done again in every view that is opened later. */
  async function pass(ms: number, how: 'runFor' | 'fastForward' = 'runFor'): Promise<void> {
    await operator.page.evaluate(`__pwClock.controller.${how}(${ms})`)
    await requests.answered()
  }

  /** As a link leads there: a page that is loaded costs as much as all else that is done in it. */
  async function go(path: string): Promise<void> {
    if (!operator.page.url().includes('/dashboard')) return operator.open(path)
    await operator.page.evaluate(`history.pushState(null, '', '/dashboard${path}')`)
  }

  /** How often the node is asked by a view that nobody touches. */
  async function expectFewRequests(most: number): Promise<void> {
    // What has just been opened is read more often, until it has been the same for a minute.
    await pass(10_000)
    await pass(70_000, 'fastForward')
    await pass(10_000)
    requests.forget()
    for (let second = 0; second < 60; second += 2) await pass(2_000)
    const asked = requests.paths()
    expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(most)
  }

  it.each(views)(
    '[H-OPS-1] /dashboard%s is accessible in light and dark, fits, says names and age, asks little',
    async (path, sign) => {
      const { page, complaints, violations } = operator
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.emulateMedia({ colorScheme: 'light' })
      await go(pathOf(path, ids))
      await page.getByText(sign).locator('visible=true').first().waitFor()
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      expect(await page.evaluate<string[]>(cutHeads)).toEqual([])
      expect(await violations()).toEqual([])
      await expect.poll(() => page.evaluate<string[]>(rawIds(known))).toEqual([])
      expect(await page.evaluate<string[]>(agelessLists)).toEqual([])
      for (const width of [1024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        const overflow = 'document.documentElement.scrollWidth - innerWidth'
        if (path === '') await page.evaluate(asOfLongName)
        expect([width, await page.evaluate<number>(overflow)]).toEqual([width, 0])
      }
      // The columns of the database are what they are; it is scrolled sideways.
      if (!path.includes('&table=')) expect(await page.evaluate<string[]>(cutTables)).toEqual([])
      // All else of the page is the same in the dark.
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violations('colours')).toEqual([])
      await page.setViewportSize({ width: 1440, height: 900 })
      await expectFewRequests(path === '' ? perMinute.overview : perMinute.elsewhere)
      expect(complaints.splice(0)).toEqual([])
    },
  )
}

/**
 * The clock of the page runs ahead of the node's: of one that has only just started it would look
 * as if it had started anew between two readings.
 */
async function answerAsOld(route: Route): Promise<void> {
  const response = await route.fetch()
  const status: object = await response.json()
  await route.fulfill({ response, json: { ...status, uptime_seconds: 86_400 } })
}

/** So many requests at most. */
const perMinute = { overview: 50, elsewhere: 12 } as const

/** Where an id stands as itself beside the name, because two may share a name. */
const idsOnPurpose = '.copyable code, .hint code'

/** Ids of accounts that are read where their names are known [H-OPS-1]. */
const rawIds = (known: readonly string[]) => `(() => {
  const known = new Set(${JSON.stringify(known)})
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found = []
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode
    for (const [id] of data.matchAll(/user-[0-9a-f]{32}/g)) {
      if (!known.has(id) || parentElement.closest('${idsOnPurpose}')) continue
      if (parentElement.checkVisibility()) found.push(data)
    }
  }
  return found
})()`

/** Operators have names of up to 128 bytes. */
const asOfLongName = `document.querySelector('.top-operator').textContent = 'm'.repeat(128)`

/** Lists that do not say how old they are. */
const agelessLists = `[
  ...[...document.querySelectorAll('.table-frame')].map((frame) => frame.nextElementSibling),
  ...document.querySelectorAll('.pane:has(.messages, .timeline, [aria-label="Members"])'),
].map((list) => list?.textContent ?? '').filter((text) => !/read \\d+ (s|min) ago/.test(text))`

/** Heads of cards whose words do not fit in. */
const cutHeads = `[...document.querySelectorAll('.card-head')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ textContent }) => textContent)`

/** Tables with columns that are cut off at the right. */
const cutTables = `[...document.querySelectorAll('.table-frame')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((frame) => frame.querySelector('table').ariaLabel)`

function pathOf(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/, (_, name: string) => ids[name] ?? 'unknown')
}

/** What stands in the paths in braces. */
async function idsOf({ node: { client }, seeded, played }: LiveStage) {
  const matches = await client.matchRecords.list({ query: { limit: 10 } })
  const lines = await client.scriptLogs.list({ query: { limit: 100 } })
  return {
    ana: seeded.accounts.ana ?? '',
    player: played.player,
    room: String(played.open.id),
    match: matches.items.find(({ name }) => name === 'finished-duel')?.match_id ?? '',
    line: lines.items.find(({ tag }) => tag === 'duel.round')?.log_id ?? '',
  }
}
