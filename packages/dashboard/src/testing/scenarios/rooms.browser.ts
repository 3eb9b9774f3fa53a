import { createPlayer } from '@guildhall/client'
import { expect, it } from 'vitest'
import { viewer } from '../served-node.ts'
import type { LiveStage } from '../stage.ts'

/** Rooms that operators handle: a live match watched, one player removed, the room closed. */
export function roomTests(stage: () => LiveStage): void {
  async function enter(id: string, room: string) {
    const player = createPlayer(stage().node.url)
    await player.signIn.device({ id, create: true, username: id })
    const connection = await player.connect()
    return { connection, room: await connection.rooms.joinOrCreate(room) }
  }

  it('[H-OPS-5] one player is removed, and then the room is closed; the trail has both', async () => {
    const { node } = stage()
    const [cheat, fair] = [await enter('cheat', 'ranked'), await enter('fair', 'ranked')]
    const ends: string[] = []
    cheat.room.on('closed', ({ reason }) => ends.push(`cheat ${reason}`))
    fair.room.on('closed', ({ reason }) => ends.push(`fair ${reason}`))
    const { id } = cheat.room
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open('/rooms')
      await page.getByRole('row').getByText('ranked').click()
      const pane = page.getByRole('complementary', { name: 'Room' })
      await pane.getByText('2 of 4').waitFor()
      await pane.getByText(/^\d+ (ms|s)$/).waitFor()
      await pane.getByText(/, 0 so far$/).waitFor()
      for (let sent = 0; sent < 5; sent += 1) fair.room.send(101, 'go')
      await pane.getByText(/^[0-9.]*[1-9][0-9.]*, 5 so far$/).waitFor()
      expect(await violations()).toEqual([])
      const member = pane.getByRole('listitem').filter({ hasText: 'cheat' })
      await member.getByRole('button', { name: /Remove/ }).click()
      const question = page.getByRole('dialog', { name: 'Remove cheat from ranked' })
      expect(await violations()).toEqual([])
      await question.getByRole('button', { name: 'Remove' }).click()
      await expect.poll(() => ends).toEqual(['cheat removed'])
      await pane.getByText('1 of 4').waitFor()

      await pane.getByRole('link', { name: 'its record' }).click()
      const record = page.getByRole('complementary', { name: 'Match' })
      await record.getByText(`${id} on `).waitFor()
      await record.getByText('comes in').first().waitFor()
      fair.room.send(100, 'over')
      await record.getByText('the round is over').waitFor()
      await page.goBack()

      await pane.getByText('Call an RPC of the script').click()
      await expect.poll(() => pane.getByLabel('Payload').inputValue()).toBe(`{"room_id":${id}}`)
      await pane.getByLabel('Method').fill('roll')
      await pane.getByRole('button', { name: 'Call' }).click()
      await pane.getByText(`{"room_id":${id}}`, { exact: false }).last().waitFor()
      expect(await violations()).toEqual([])

      await pane.getByRole('button', { name: 'Close room' }).click()
      const closing = page.getByRole('dialog', { name: 'Close ranked' })
      await closing.getByRole('button', { name: 'Close', exact: true }).last().click()
      await expect.poll(() => ends).toEqual(['cheat removed', 'fair removed'])
      await page.getByText('Closed ranked').waitFor()
      await pane.getByText('No such room now').waitFor()
      expect(await pane.getByRole('button', { name: 'Close room' }).count()).toBe(0)
      expect(complaints.filter((text) => !/404|409/.test(text))).toEqual([])
    })
    const { entries } = await node.client.audit.list({ query: { limit: 50 } })
    const seen = entries.filter(({ action }) => action.startsWith('match.'))
    expect(seen.map(({ action, target }) => `${action} ${target}`)).toEqual([
      `match.close ${id}`,
      `match.remove ${id}/${cheat.connection.participant}`,
    ])
    const { items } = await node.client.matchRecords.list({ query: { limit: 10 } })
    const record = items.find(({ name }) => name === 'ranked')
    expect(record).toMatchObject({ open: false, termination_reason: 'server_closed' })
    await Promise.all([cheat.connection.close(), fair.connection.close()])
  })

  it('[R-CL-21] of several nodes it is said which one a room and a view is of', async () => {
    const { played } = stage()
    await stage().with(async ({ page, open }) => {
      await page.route('**/console/v1/**', async (route) => {
        const response = await route.fetch()
        const headers = { 'content-type': 'application/json', 'x-node-id': 'second' }
        if (!route.request().url().endsWith(`/matches/${played.open.id}`)) {
          return route.fulfill({ response, headers })
        }
        return route.fulfill({ json: { ...(await response.json()), node_id: 'third' } })
      })
      for (const path of ['', '/runtime', '/errors', '/telemetry', '/config']) {
        await open(path)
        await page.locator('.page-head').getByText('Node second').waitFor()
      }
      await open(`/rooms/${played.open.id}`)
      await page.getByRole('complementary', { name: 'Room' }).getByText('third').waitFor()
    })
  })

  it('[H-OPS-5] viewers see members and the record, and can do nothing about them', async () => {
    const { played } = stage()
    await stage().with(
      async ({ page, open }) => {
        await open(`/rooms/${played.open.id}`)
        const pane = page.getByRole('complementary', { name: 'Room' })
        await pane.getByText('2 of 4').waitFor()
        const names = /Remove|Call|capture/
        expect(await pane.getByRole('button', { name: names }).count()).toBe(0)
        expect(await pane.getByRole('button', { name: 'Close room' }).count()).toBe(0)
      },
      { as: viewer },
    )
  })
}
