import { describe, expect, it } from 'vitest'
import { startReloading, version } from './reload.fixture.ts'

/** Takes so long to load its data when it is started again. */
const loadingFor = (ms: number) => `
  let data = 'EMPTY'
  guildhall.on_start(async ({ reason, state }) => {
    if (reason === 'restart') await new Promise((resolve) => setTimeout(resolve, ${ms}))
    data = state ?? 'loaded'
  })
  guildhall.on_rpc('data', () => data)
  guildhall.on_rpc('exit', () => process.exit())
  guildhall.every(10, () => guildhall.broadcast(100, data))`

const loading = loadingFor(1500)
const handing = `${loading}\nguildhall.on_unload(() => data)`

/** A script whose worker has ended, and whose on_start runs once more. */
async function startAgain(more = handing) {
  const harness = await startReloading({
    files: { 'main.ts': version(1, more) },
    config: { hand_over_ms: 50 },
  })
  void harness.rpc('exit')
  await harness.seen(2)
  return harness
}

describe('a candidate while the on_start of a restart runs', () => {
  it('[S-REL-8] [S-HK-12] gets what that on_start has loaded', async () => {
    const { rpc, save, seen } = await startAgain()
    save('main.ts', version(2, handing))
    expect(await seen(3)).toMatchObject({ outcome: 'active', reason: 'reload' })
    expect([await rpc('version'), await rpc('data')]).toEqual(['2', 'loaded'])
  })

  it('[S-REL-8] [S-HK-12] that is rejected leaves calls and timers to wait for it', async () => {
    const { rpc, save, seen, delivered, until } = await startAgain(loading)
    const from = delivered.length
    save('main.ts', version(2, `guildhall.on_start(() => { throw new Error('no') })`))
    expect(await rpc('data')).toBe('loaded')
    expect(await seen(3)).toMatchObject({ outcome: 'rejected' })
    await until(() => delivered.length > from + 3)
    expect(new Set(delivered.slice(from).map(({ text }) => text))).toEqual(new Set(['loaded']))
  })

  it('[S-RDY-1] row 10: whose worker ends meanwhile holds nothing', async () => {
    // Longer than a busy machine takes to load the candidate, which would take over otherwise.
    const { rpc, save, seen } = await startAgain(loadingFor(6000))
    save('main.ts', version(2, `setTimeout(() => process.exit(), 10)\n${loading}`))
    // On a busy machine it may end before it has loaded.
    expect(await seen(3)).toMatchObject({
      ...{ outcome: 'rejected' },
      problem: expect.stringMatching(/^(its|the) worker ended/),
    })
    expect([await rpc('version'), await rpc('data')]).toEqual(['1', 'loaded'])
  })
})

it('[S-HK-12] a node that stops lets a running on_start end before on_unload', async () => {
  const { host, delivered } = await startAgain(
    `${loading}\nguildhall.on_unload(() => guildhall.broadcast(101, data))`,
  )
  await host.unload()
  expect(delivered.filter(({ kind }) => kind === 101)).toMatchObject([{ text: 'loaded' }])
})
