import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { expect, it } from 'vitest'
import { launchWithProfile } from '../browser.ts'
import { fillSignIn, type Operator } from '../operator.ts'
import { admin, viewer } from '../served-node.ts'
import type { Stage } from '../stage.ts'

/** On buttons that change something. */
const words =
  'Call,New ,Create,Send,Submit,Validate,Edit,Delete,Ban,Adjust,Add,Rotate,Revoke,Up,Down,Kick'
const forbidden = new RegExp(`${words.replaceAll(',', '|')}|\\bEnd\\b`)

export function signInTests(stage: () => Stage): void {
  it('[H-CON-1] refuses a wrong password in words, and lets the right one in', async () => {
    const work = async ({ page, open }: Operator) => {
      await open('/accounts?filter=ana')
      await fillSignIn(page, { ...admin, password: 'wrong' })
      await page.getByText('do not belong together').waitFor()
      await fillSignIn(page, admin)
      await page.getByRole('link', { name: 'ana', exact: true }).waitFor()
      // The deep link led where it pointed, filter included.
      await expect.poll(() => page.getByLabel('Part of an id or username').inputValue()).toBe('ana')
    }
    await stage().with(work, { stranger: true })
  })

  it('is known in another tab of the same browser, and signed out in all', async () => {
    const work = async ({ page, context, open }: Operator) => {
      await open('/groups')
      await fillSignIn(page, admin)
      await page.getByRole('heading', { name: 'Groups' }).waitFor()
      const other = await context.newPage()
      await other.goto(`${stage().node.url}/dashboard/groups`)
      await other.getByRole('heading', { name: 'Groups' }).waitFor()
      await other.getByRole('button', { name: 'admin' }).click()
      await other.getByText(/^Session ends in (1 hr|59 min)/).waitFor()
      await other.getByRole('button', { name: 'Sign out' }).click()
      await page.getByLabel('Operator').waitFor()
    }
    await stage().with(work, { stranger: true })
  })

  it('[H-OPS-2] signing out ends the token on the node, and no disk ever had it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guildhall-profile-'))
    const context = await launchWithProfile(folder)
    try {
      const page = await context.newPage()
      const isSent = page.waitForRequest('**/console/v1/groups?*')
      await page.goto(`${stage().node.url}/dashboard/groups`)
      await fillSignIn(page, admin)
      const token = (await isSent).headers().authorization?.replace('Bearer ', '') ?? ''
      expect(token.length).toBeGreaterThan(20)
      await page.getByText('Red Team').waitFor()
      // What stands there is written to the disk some seconds later, whatever becomes of it.
      const stored = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'
      expect(await page.evaluate<string>(stored)).not.toContain(token)
      await page.getByRole('button', { name: 'admin' }).click()
      const isOut = page.waitForResponse('**/console/v1/logout')
      await page.getByRole('button', { name: 'Sign out' }).click()
      expect((await isOut).status()).toBe(204)
      await page.getByLabel('Operator').waitFor()
      const me = await fetch(`${stage().node.url}/console/v1/me`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(me.status).toBe(401)
      await page.reload()
      await page.getByLabel('Operator').waitFor()
      // A browser that ends writes what it has kept back.
      await context.close()
      expect(await filesWith(folder, token)).toEqual([])
    } finally {
      await context.close()
      await rm(folder, { recursive: true })
    }
  })

  it('[H-CON-4] asks again when the session has ended, and loses nothing typed', async () => {
    await stage().with(async ({ page, open }) => {
      await open('/accounts')
      await page.getByRole('button', { name: 'New account' }).click()
      await page.getByLabel('Username', { exact: true }).fill('typed-before')
      // The node forgets the token, as after a restart.
      await page.route('**/console/v1/accounts', (route) =>
        route.fulfill({
          status: 401,
          contentType: 'application/json',
          body: '{"code":"authentication_failed","message":"authentication failed"}',
        }),
      )
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      const again = page.getByRole('dialog', { name: 'Sign in again' })
      await again.waitFor()
      // The operator is known: typing goes on with the password.
      expect(await page.evaluate<string>('document.activeElement?.type')).toBe('password')
      await page.unroute('**/console/v1/accounts')
      await again.getByLabel('Password').fill(admin.password)
      await again.getByRole('button', { name: 'Sign in' }).click()
      await again.waitFor({ state: 'detached' })
      await expect
        .poll(() => page.getByLabel('Username', { exact: true }).inputValue())
        .toBe('typed-before')
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      await page.getByRole('heading', { level: 1 }).getByText('typed-before').waitFor()
    })
  })

  it('[H-AUTH-5] shows a viewer no control that only an admin may use', async () => {
    await stage().with(
      async ({ page, open, complaints }) => {
        await expect.poll(() => page.getByRole('link', { name: 'API keys' }).count()).toBe(0)
        const player = createPlayer(stage().node.url)
        const body = { id: 'of-a-viewer', create: true, username: 'looked-at' }
        const { user_id } = await player.signIn.device(body)
        for (const path of viewerPaths(stage().seeded.accounts.ana ?? '', user_id)) {
          await open(path)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.waitForLoadState('networkidle')
          expect(await page.getByRole('button', { name: forbidden }).allTextContents()).toEqual([])
          await expect.poll(() => page.getByRole('checkbox').count()).toBe(0)
        }
        await open('/api-keys?new=yes')
        await page.getByText('Your role does not allow this section.').waitFor()
        expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual([
          'API keys',
        ])
        await page.keyboard.press('Control+k')
        await page.getByRole('combobox').fill('create')
        expect(await page.getByRole('option').allTextContents()).toEqual([])
        expect(complaints).toEqual([])
      },
      { as: viewer },
    )
  })
}

/** Files of the folder that hold the text, in one or two bytes a letter. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  expect(files.length).toBeGreaterThan(10)
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const bytes = await readFile(join(parentPath, name))
      return bytes.includes(text) || bytes.includes(text, 0, 'utf16le') ? [name] : []
    }),
  )
  return found.flat()
}

function viewerPaths(id: string, player: string): string[] {
  return [
    '/accounts',
    `/accounts/${id}`,
    `/accounts/${id}?tab=wallet`,
    `/accounts/${id}?tab=friends`,
    `/accounts/${player}?tab=sessions`,
    '/groups/1',
    '/chat/lobby',
    '/notifications',
    '/storage?collection=saves',
    '/leaderboards/weekly',
    '/tournaments/cup-1',
    '/purchases/T-1',
    '/runtime',
  ]
}
