import { createPlayer, type Player } from '@guildhall/client'
import { expect, it } from 'vitest'
import { viewer } from '../served-node.ts'
import type { Stage } from '../stage.ts'

/** Sessions of players, who are signed in for real, as operators see and end them. */
export function sessionTests(stage: () => Stage): void {
  /** A player who is signed in so many times; the first is connected. */
  async function signedInTimes(name: string, times: number) {
    const players = Array.from({ length: times }, () => createPlayer(stage().node.url))
    const [first, ...others] = players as [Player, ...Player[]]
    await first.signIn.device({ id: name, create: true, username: name })
    for (const player of others) await player.signIn.device({ id: name })
    const connection = await first.connect()
    const path = `/accounts/${first.session()?.user_id}?tab=sessions`
    return { players, connection, path }
  }

  it('[R-REV-1] one session of an account is ended, and then all, each asked for', async () => {
    const { players, connection, path } = await signedInTimes('many-phones', 3)
    const states: string[] = []
    connection.on('state', ({ state }) => states.push(state))
    const refused = () =>
      Promise.all(
        players.map((player) =>
          player.account.get().then(
            () => false,
            () => true,
          ),
        ),
      )
    await stage().with(async ({ page, open, complaints }) => {
      await open(path)
      const rows = page.getByRole('table', { name: 'Live sessions' }).locator('[data-row]')
      await expect.poll(() => rows.count()).toBe(3)
      const connected = rows.filter({ hasText: 'connected' })
      await expect.poll(() => connected.count()).toBe(1)
      await connected.getByRole('button', { name: 'End' }).click()
      await page
        .getByRole('dialog', { name: 'End a session of many-phones' })
        .getByRole('button', { name: 'Cancel' })
        .click()
      await expect.poll(() => rows.count()).toBe(3)
      await connected.getByRole('button', { name: 'End' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
      await expect.poll(() => rows.count()).toBe(2)
      await expect.poll(() => states).toEqual(['closed'])
      await page.getByRole('button', { name: 'End all' }).click()
      const question = page.getByRole('dialog', { name: 'End all 2 sessions of many-phones' })
      const end = question.getByRole('button', { name: 'End all' })
      expect(await end.isDisabled()).toBe(true)
      await question.getByLabel('Type many-phones to confirm').fill('many-phones')
      await end.click()
      await page.getByText('Sessions ended: 2').waitFor()
      await page.getByText('The player is signed in nowhere.').waitFor()
      expect(await page.getByRole('button', { name: 'End all' }).count()).toBe(0)
      await open('/audit')
      await page.getByRole('cell', { name: 'accounts.sessions.revoke_all' }).waitFor()
      expect(complaints).toEqual([])
    })
    expect(await refused()).toEqual([true, true, true])
  })

  it('hundreds of sessions are read as they are scrolled to', async () => {
    const { connection, path } = await signedInTimes('farm', 230)
    await stage().with(
      async ({ page, open, complaints }) => {
        await open(path)
        const table = page.getByRole('table', { name: 'Live sessions' })
        await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('230')
        await expect.poll(() => page.locator('[data-row]').count()).toBeLessThan(100)
        await page.locator('[data-row="0"]').focus()
        // The second page is read when the end of the first one comes near.
        const oldest = page.locator('[data-row="229"]')
        await expect
          .poll(async () => {
            await page.keyboard.press('End')
            return oldest.getByText('connected').count()
          })
          .toBe(1)
        expect(await page.getByRole('button', { name: /^End/ }).count()).toBe(0)
        expect(complaints).toEqual([])
      },
      { as: viewer },
    )
    await connection.close()
  })
}
