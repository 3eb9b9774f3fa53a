import { describe, expect, it } from 'vitest'
import { startHarness } from '../host.fixture.ts'

const script = (text: string | undefined, config = {}) =>
  startHarness({ files: text === undefined ? {} : { 'main.ts': text }, config })

const completed = { tournament_id: 'cup', leaderboard_id: 'weekly', results_total: 3 }
const reset = { leaderboard_id: 'weekly', due_at_unix_ms: 1_763_700_000_000, fencing_token: 9 }

describe('events of the deployment', () => {
  it('[S-HK-10] call the hook that is theirs, without a sender, and are done when it returns', async () => {
    const { host, rpc } = await script(`
      const seen: unknown[] = []
      guildhall.on_tournament_completed(async (event) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        seen.push(['tournament', event])
      })
      guildhall.on_leaderboard_reset((...args) => { seen.push(['reset', ...args]) })
      guildhall.on_rpc('seen', () => seen)
    `)
    expect(host.events.ready()).toBe(true)
    await host.events.deliver('on_tournament_completed', JSON.stringify(completed))
    await host.events.deliver('on_leaderboard_reset', JSON.stringify(reset))
    expect(JSON.parse(String(await rpc('seen')))).toEqual([
      ['tournament', completed],
      ['reset', reset],
    ])
  })

  it('[O-SCH-9] are done with at once when the script does not register the hook', async () => {
    const { host, rpc } = await script(`
      let calls = 0
      guildhall.on_leaderboard_reset(() => { calls += 1 })
      guildhall.on_rpc('calls', () => calls)
    `)
    await host.events.deliver('on_tournament_completed', JSON.stringify(completed))
    expect(await rpc('calls')).toBe('0')
  })

  it.each([
    ['throws', 'throw new Error("no")'],
    ['rejects', 'return Promise.reject(new Error("no"))'],
    ['fails with a text', 'guildhall.fail("no")'],
    ['is interrupted', 'for (;;) {}'],
    ['takes too long', 'return new Promise(() => {})'],
  ])('[S-HK-10] are not done when the handler %s', async (_, body) => {
    const { host } = await script(`guildhall.on_tournament_completed(() => { ${body} })`, {
      deadline_ms: 50,
      call_timeout_ms: 300,
    })
    const received = host.events.deliver('on_tournament_completed', JSON.stringify(completed))
    await expect(received).rejects.toThrow('on_tournament_completed ended as')
  })

  it('[S-HK-10] are not done when the worker is lost meanwhile, and wait until it is back', async () => {
    const { host, until } = await script(
      'guildhall.on_tournament_completed(() => process.exit())',
      { restart_backoff_ms: 60_000, restart_backoff_max_ms: 60_000 },
    )
    const received = host.events.deliver('on_tournament_completed', JSON.stringify(completed))
    await expect(received).rejects.toThrow('ended as lost')
    await until(() => host.readiness().state === 'degraded')
    expect(host.events.ready()).toBe(false)
    const again = host.events.deliver('on_tournament_completed', JSON.stringify(completed))
    await expect(again).rejects.toThrow('no script serves')
  })

  it('[O-SCH-9] are not for a node without a script', async () => {
    const { host } = await script(undefined)
    expect(host.readiness().state).toBe('no_script')
    expect(host.events.ready()).toBe(false)
  })

  it('[S-HK-10] take one handler for each hook, registered while the script starts', async () => {
    const { host } = await script('guildhall.on_leaderboard_reset(() => {})')
    expect(host.describe().script?.hooks).toEqual(['on_leaderboard_reset'])
    for (const registration of [
      'guildhall.on_leaderboard_reset(7)',
      'guildhall.on_leaderboard_reset(() => {}); guildhall.on_leaderboard_reset(() => {})',
    ]) {
      await expect(script(registration)).rejects.toThrow('on_leaderboard_reset')
    }
  })
})
