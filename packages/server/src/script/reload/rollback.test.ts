import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../kernel/clock.fake.ts'
import { startHarness } from '../host.fixture.ts'
import { type Reloading, startReloading, version } from './reload.fixture.ts'

/** A script that ends its process at each call. */
const dying = `guildhall.on_rpc('version', () => process.exit())`

/** Calls the script, again and again, until something has come of it. */
async function callUntil({ rpc, clock }: Reloading, condition: () => boolean): Promise<void> {
  while (!condition()) {
    await rpc('version')
    await clock.sleep(10)
  }
}

describe('rollback', () => {
  it('[S-REL-11] [S-REC-1] gives up a revision that fails three times, for the one before it', async () => {
    const reloading = await startReloading({
      files: {
        'main.js': version(
          1,
          `let reason = ''
           guildhall.on_start((start) => { reason = start.reason })
           guildhall.on_rpc('reason', () => reason)`,
        ),
      },
    })
    const { rpc, save, until, activations, host, lines, journal } = reloading
    const before = host.describe().readiness.revision_id
    save('main.js', dying)
    await callUntil(reloading, () => activations()[0]?.reason === 'rollback')
    expect([await rpc('version'), await rpc('reason')]).toEqual(['1', 'rollback'])
    expect(host.describe().readiness).toMatchObject({
      ...{ state: 'ready', revision_id: before },
      recovery: { circuit_open: false, consecutive_failures: 0 },
    })
    const outcomes = activations().map(({ outcome, reason }) => `${outcome} ${reason}`)
    expect(outcomes.slice(0, 2)).toEqual(['active rollback', 'rejected reload'])
    expect(lines('error').at(-1)).toMatchObject({ message: 'a script was rejected' })
    const rejections = journal.page({ offset: 0, limit: 100 }).entries
    expect(rejections.some(({ category }) => category === 'script')).toBe(true)
    // It is a rejected content: the same again is no candidate.
    save('main.js', version(3))
    await until(() => activations()[0]?.reason === 'reload')
    const tried = activations().length
    save('main.js', dying)
    save('other', '')
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(activations()).toHaveLength(tried)
    expect(await rpc('version')).toBe('3')
  })

  it.each([
    ['dies 5 s after each start', [5_000, 10_100, 15_200], ['rollback', '1']],
    ['dies for the third time 30 s after it took over', [5_000, 20_000, 30_000], ['rollback', '1']],
    ['dies for the third time a moment later', [5_000, 20_000, 30_001], ['restart', '2']],
  ])('[S-REL-11] one that %s', async (_, timesMs, [reason, serves]) => {
    const gameClock = createFakeClock()
    const { folder, rpc, host, until } = await startHarness({
      files: { 'main.js': version(1) },
      gameClock,
    })
    const readiness = () => host.describe().readiness
    writeFileSync(
      join(folder, 'main.js'),
      version(2, `guildhall.on_rpc('die', () => process.exit())`),
    )
    await host.reload()
    const takenOverMs = gameClock.monotonicMs()
    for (const [index, atMs] of timesMs.entries()) {
      await gameClock.advance(takenOverMs + atMs - gameClock.monotonicMs())
      await rpc('die')
      await until(() => readiness().state !== 'ready')
      // By then it is started again, unless something else is.
      await gameClock.advance(100)
      await until(() => readiness().generation === index + 3 && readiness().state === 'ready')
    }
    expect(host.failures().reloads[0]).toMatchObject({ outcome: 'active', reason })
    expect(await rpc('version')).toBe(serves)
  })

  it.each([
    ['that one when it takes over', version(3), '3', 'active reload'],
    ['the one before when that one is rejected', 'broken {', '1', 'active rollback'],
  ])(
    '[S-REL-11] a third failure while a candidate loads ends in %s',
    async (_, candidate, serves, outcome) => {
      const exits = version(2, `guildhall.on_rpc('exit', () => process.exit())`)
      const { rpc, save, seen, until, activations, state, host } = await startReloading({
        files: { 'main.js': version(1) },
      })
      save('main.js', exits)
      await seen(2)
      for (const count of [3, 4]) {
        void rpc('exit')
        await seen(count)
      }
      const loads = 'await new Promise((resolve) => setTimeout(resolve, 500))'
      await until(() => host.isQuiet())
      save('main.js', `${loads}\n${candidate}`)
      await until(() => !host.isQuiet())
      await rpc('exit')
      await until(() => activations().length > 4 && state() === 'ready')
      await new Promise((resolve) => setTimeout(resolve, 500))
      const [last] = activations()
      expect(`${last?.outcome} ${last?.reason}`).toBe(outcome)
      expect(await rpc('version')).toBe(serves)
    },
  )

  it('[S-REL-11] [S-REC-4] comes with an open circuit as well', async () => {
    const reloading = await startReloading({
      files: { 'main.js': version(1) },
      config: { restart_limit: 1 },
    })
    const { rpc, save, activations, host } = reloading
    save('main.js', dying)
    await callUntil(reloading, () => activations()[0]?.reason === 'rollback')
    expect(await rpc('version')).toBe('1')
    expect(host.describe().readiness).toMatchObject({
      state: 'ready',
      recovery: { circuit_open: false },
    })
  })

  it('[S-REL-11] is not for a revision that fails at boot, nor for what a change mends', async () => {
    const reloading = await startReloading({
      files: { 'main.js': dying },
      config: { restart_limit: 2, restart_backoff_max_ms: 100 },
    })
    const { rpc, save, until, activations } = reloading
    await callUntil(reloading, () => activations().length >= 3)
    save('main.js', version(2))
    await until(() => activations()[0]?.reason === 'reload')
    expect(await rpc('version')).toBe('2')
  })
})
