import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Operator, signedIn } from './testing/operator.ts'
import { describeInBrowser, type Stage } from './testing/stage.ts'

/** Every view, and something that only stands there once everything was read. */
const views: readonly (readonly [path: string, sign: string])[] = [
  ['', 'Background tasks'],
  ['/accounts', 'Ana the Bold'],
  ['/accounts/{ana}', 'No credential is linked'],
  ['/accounts/{ana}?tab=wallet', '9,223,372,036,854,775,807'],
  ['/accounts/{ana}?tab=friends', 'invited'],
  ['/accounts/{ana}?tab=groups', 'Red Team'],
  ['/accounts/{ana}?tab=objects', 'slot-1'],
  ['/accounts/{ana}?tab=notifications', 'Welcome'],
  ['/accounts/{ana}?tab=chat', 'No channel has this id'],
  ['/accounts/{ana}?tab=purchases', 'season-pass'],
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
  ['/rooms', 'No rooms are open'],
  ['/telemetry', 'Slices of the game'],
  ['/errors', 'No errors'],
  ['/match-records', 'No matches yet'],
  ['/logs', 'No lines'],
  ['/runtime', 'What the script registered'],
  ['/database', 'leaderboards'],
  ['/database?schema=main&table=accounts', 'tombstoned'],
  ['/config', 'token_expiry_sec'],
]

/** The database explorer and what scripts write need a file. */
const folder = mkdtempSync(join(tmpdir(), 'guildhall-views-'))
const settings = { GUILDHALL_DATABASE__URL: `sqlite:${join(folder, 'views.db')}` }

await describeInBrowser('the views', viewTests, { settings })

afterAll(() => rmSync(folder, { recursive: true }))

function viewTests(stage: () => Stage): void {
  let operator: Operator

  beforeAll(async () => {
    operator = await signedIn(stage().browser, stage().node.url)
  })

  afterAll(() => operator?.leave())

  it.each(views)(
    '/dashboard%s is accessible in light and dark, fits, and has nothing to complain of',
    async (path, sign) => {
      const { page, open, complaints, violations } = operator
      const { ana = '' } = stage().seeded.accounts
      await open(path.replace('{ana}', ana))
      await page.getByText(sign).first().waitFor()
      expect(await violations()).toEqual([])
      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await violations(['color-contrast'])).toEqual([])
      await page.emulateMedia({ colorScheme: 'light' })
      for (const width of [1024, 390, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const overflow = 'document.documentElement.scrollWidth - innerWidth'
        expect([width, await page.evaluate<number>(overflow)]).toEqual([width, 0])
      }
      expect(complaints).toEqual([])
    },
  )
}
