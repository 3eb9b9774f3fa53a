import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { afterAll, expect, it } from 'vitest'
import { signedIn } from '../operator.ts'
import { requestsOf } from '../requests.ts'
import { serveNode } from '../served-node.ts'
import type { LiveStage } from '../stage.ts'

/** What an operator does on a day, from the beginning to the end of it. */
export function dayTests(stage: () => LiveStage): void {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-day-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('[H-OPS-7] a support case goes from a name to what happened and what was done', async () => {
    const { node } = stage()
    const player = createPlayer(node.url)
    const { user_id } = await player.signIn.device({
      ...{ id: 'a-lost-device', create: true, username: 'gone_astray' },
    })
    await node.client.wallet.adjust({
      params: { id: user_id },
      body: { currency: 'gems', delta: 40n, reason: 'won them' },
    })
    await node.client.purchases.validate({
      body: {
        ...{ user_id, store: 'store_a' },
        receipt: '{"transaction_id":"day-1","product_id":"astray-pack"}',
      },
    })
    await stage().with(async ({ page, open, complaints, violations }) => {
      await open('')
      await page.getByText('Background tasks').first().waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).fill('gone_as')
      await page.getByRole('option', { name: /^gone_astray/ }).click()
      await page.getByRole('link', { name: 'Story' }).click()
      const story = page.getByRole('table', { name: 'What happened' })
      await story.getByText('bought astray-pack at store_a').waitFor()
      await story.getByText(/gems/).first().waitFor()
      await story.getByText('signed in').first().waitFor()
      expect(await violations()).toEqual([])

      await page.getByRole('button', { name: 'Ban', exact: true }).click()
      const question = page.getByRole('dialog', { name: 'Ban gone_astray' })
      await question.getByRole('button', { name: 'Ban' }).last().click()
      await story.getByText(/accounts\.ban/).waitFor()
      expect(complaints).toEqual([])
    })
    await expect(player.signIn.device({ id: 'a-lost-device' })).rejects.toThrow()
  })

  it('[S-VIEW-3] a bad deploy is noticed by its failures within five seconds', async () => {
    const scripts = join(folder, 'scripts')
    const game = join(import.meta.dirname, '../game/main.ts')
    mkdirSync(scripts)
    copyFileSync(game, join(scripts, 'main.ts'))
    const node = await serveNode({
      GUILDHALL_RUNTIME__SCRIPTS_DIR: scripts,
      GUILDHALL_RUNTIME__HOT_RELOAD: 'true',
    })
    const deploy = (added: string) => {
      writeFileSync(join(scripts, 'main.ts'), `${readFileSync(game, 'utf8')}\n${added}\n`)
    }
    const { page, open, leave } = await signedIn(stage().browser, node)
    /** So long by the clock of the page, which stands still beside it. */
    const requests = requestsOf(page)
    const fiveSeconds = async () => {
      for (let second = 0; second < 5; second += 1) {
        await page.clock.runFor(1_000)
        await requests.answered()
      }
    }
    try {
      await page.clock.install()
      await open('')
      await page.getByText('Background tasks').first().waitFor()
      // Ahead of the page's clock, however long the way there takes.
      await page.clock.pauseAt(Date.now() + 10_000)
      deploy("guildhall.on_rpc('daily', () => { throw new Error('nothing today') })")
      const methods = async () => (await node.client.runtime.get({})).script?.rpcs
      await expect.poll(methods).toContain('daily')
      await node.client.runtime.rpc({ params: { method: 'daily' }, body: { payload: '' } })
      await fiveSeconds()
      const failures = page.getByRole('table', { name: 'Script failures' })
      await failures.getByText('nothing today').waitFor()
      const menu = page.getByRole('navigation', { name: 'Sections' })
      await menu.getByRole('link', { name: /^Runtime *1 new$/ }).waitFor()

      deploy('this is no script')
      const outcome = async () => (await node.client.runtime.failures({})).reloads[0]?.outcome
      await expect.poll(outcome).toBe('rejected')
      await fiveSeconds()
      await page.getByText('The last change of the script was rejected').waitFor()
    } finally {
      await leave()
      await node.stop()
    }
  })
}
