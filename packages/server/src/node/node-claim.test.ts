import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { statement } from '../database/statement.ts'
import { testBackends } from '../database/testing/backends.ts'
import { startNodeProcess } from '../testing/node-process.ts'

const claimEnd = statement({
  name: 'test.claim-end',
  text: "SELECT expires_at_unix_ms FROM leases WHERE name = 'node/dev-1'",
  params: {},
  row: { expires_at_unix_ms: 'integer' },
})

const takeOver = statement({
  name: 'test.take-over',
  text: `UPDATE leases SET holder = 'another', expires_at_unix_ms = {{now}} + 600000
    WHERE name = 'node/dev-1'`,
  params: {},
})

const slowScript = `await new Promise((done) => setTimeout(done, 4500))
guildhall.on_rpc('x', () => 'x')
`

async function prepare() {
  const postgres = testBackends.find(({ name }) => name === 'postgres')
  if (postgres === undefined) throw new Error('no PostgreSQL backend')
  const { url, db, dispose } = await postgres.open()
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-claim-'))
  onTestFinished(async () => {
    await dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  writeFileSync(join(folder, 'main.js'), slowScript)
  const start = () =>
    startNodeProcess({
      'database.url': url,
      'runtime.scripts_dir': folder,
      'runtime.load_timeout_ms': '60000',
    })
  const claimedUntil = async () => (await db.all(claimEnd, {}))[0]?.expires_at_unix_ms ?? 0
  return { db, start, claimedUntil }
}

const patient = { interval: 20 }

it('[R-REC-6] renews the claim on its id while the script still loads', async () => {
  const { start, claimedUntil } = await prepare()
  let isReady = false
  const starting = start().finally(() => {
    isReady = true
  })
  await vi.waitFor(async () => expect(await claimedUntil()).toBeGreaterThan(0), patient)
  const first = await claimedUntil()
  await vi.waitFor(async () => expect(await claimedUntil()).toBeGreaterThan(first + 1500), patient)
  expect(isReady).toBe(false)
  expect(await (await starting).stop()).toBe(0)
})

it('[R-REC-6] does not listen when its id was taken over meanwhile', async () => {
  const { db, start, claimedUntil } = await prepare()
  const starting = start()
  starting.catch(() => {})
  await vi.waitFor(async () => expect(await claimedUntil()).toBeGreaterThan(0), patient)
  await db.run(takeOver, {})
  await expect(starting).rejects.toThrow(/ended with 4/)
})
