import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPlayer } from '@guildhall/client'
import { RuntimeView, ScriptFailures } from '@guildhall/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createCaller } from '../../testing/api.ts'
import { startNodeProcess } from '../../testing/node-process.ts'
import { openOperator } from '../../testing/operator.ts'

const eventually = { interval: 20 }

/** A node whose script a test changes, as operators and players see it. */
async function open(files: Record<string, string>, keys: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-states-'))
  const game = join(folder, 'game')
  mkdirSync(game)
  for (const [path, text] of Object.entries(files)) writeFileSync(join(game, path), text)
  const node = await startNodeProcess({
    'runtime.scripts_dir': game,
    'runtime.hot_reload': 'true',
    'runtime.hot_reload_poll_ms': '50',
    'runtime.require_script': 'true',
    'runtime.restart_limit': '3',
    'runtime.restart_backoff_ms': '2000',
    'runtime.restart_backoff_max_ms': '2000',
    ...keys,
  })
  onTestFinished(async () => {
    await node.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const call = createCaller(node.url)
  const operator = await openOperator({ call })
  const view = async () => RuntimeView().parse((await operator.send('GET', '/runtime')).body)
  const player = createPlayer(node.url)
  await player.signIn.device({ id: 'states', create: true, username: 'states' })
  const connection = await player.connect()
  onTestFinished(() => connection.close())
  return {
    view,
    connection,
    health: async () => (await call('GET', '/health')).status,
    ready: async () => (await call('GET', '/health/ready')).status,
    reloads: async () =>
      ScriptFailures().parse((await operator.send('GET', '/runtime/failures')).body).reloads,
    save(text: string): void {
      writeFileSync(join(game, 'saving'), text)
      renameSync(join(game, 'saving'), join(game, 'main.js'))
    },
    remove: () => rmSync(join(game, 'main.js')),
    /** Waits for a state and answers with all that is seen of it. */
    async becomes(state: string, generation: number) {
      await vi.waitFor(async () => {
        const { readiness } = await view()
        expect([readiness.state, readiness.generation]).toEqual([state, generation])
      }, eventually)
      const { attached, script, readiness } = await view()
      return { attached, hasScript: script !== null, ...readiness }
    },
    rpc: (method: string) => connection.rpc(method).then(String, (error: Error) => error.message),
  }
}

const version = (n: number) =>
  `guildhall.on_rpc('version', () => '${n}'); guildhall.on_rpc('exit', () => process.exit())`
const closed = 'game script unavailable'

it('[S-RDY-1] rows 1 to 7, 9 and 10: from no script over broken ones to the second that serves, and goes on', async () => {
  const { view, save, remove, becomes, rpc, health, ready, reloads, connection } = await open({})
  expect(await becomes('no_script', 0)).toMatchObject({ attached: false, revision_id: null })
  expect([await rpc('version'), await health(), await ready()]).toEqual([closed, 200, 503])
  save('broken {')
  expect(await becomes('unavailable', 0)).toMatchObject({ attached: false, revision_id: null })
  expect([await rpc('version'), await health()]).toEqual([closed, 200])
  remove()
  await becomes('no_script', 0)
  // While it loads the state can be seen.
  save(`await new Promise((resolve) => setTimeout(resolve, 1500)); ${version(1)}`)
  await becomes('validating', 0)
  expect(await becomes('ready', 1)).toMatchObject({ attached: true, hasScript: true })
  expect([await rpc('version'), await ready()]).toEqual(['1', 200])
  const before = await view()
  save('broken {')
  await vi.waitFor(async () => expect((await reloads())[0]?.outcome).toBe('rejected'), eventually)
  expect(await view()).toEqual(before)
  remove()
  await vi.waitFor(
    async () => expect((await reloads())[0]?.problem).toBe('there is no entry file'),
    eventually,
  )
  expect(await view()).toEqual(before)
  save(version(2))
  await becomes('ready', 2)
  // A candidate whose worker ends in the swap: the old one is ready again, and was it all along.
  const { readiness, ...second } = await view()
  save(`guildhall.on_start(() => process.exit()); ${version(3)}`)
  await vi.waitFor(
    async () => expect((await reloads())[0]?.problem).toBe('its worker ended before it took over'),
    eventually,
  )
  const { readiness: again, ...after } = await view()
  const since_unix_millis = expect.toSatisfy((since) => since > readiness.since_unix_millis)
  expect([after, again]).toEqual([second, { ...readiness, since_unix_millis }])
  expect([await rpc('version'), connection.state]).toEqual(['2', 'open'])
  expect([await health(), await ready()]).toEqual([200, 200])
})

it('[S-RDY-1] rows 8, 11 to 13, 15 and 16: a worker that fails, a circuit that opens, and what closes it', async () => {
  const { save, becomes, rpc, health, ready, connection } = await open({ 'main.js': version(1) })
  const { revision_id } = await becomes('ready', 1)
  // A failure, and a start again (rows 12 and 13).
  void rpc('exit')
  expect(await becomes('degraded', 1)).toMatchObject({ attached: false, revision_id })
  expect([await rpc('version'), await health(), await ready()]).toEqual([closed, 200, 503])
  expect(await becomes('ready', 2)).toMatchObject({
    recovery: { circuit_open: false, consecutive_failures: 1, restart_limit: 3 },
  })
  expect([await rpc('version'), connection.state]).toEqual(['1', 'open'])
  // The third failure opens the circuit (row 15); a probe closes it (row 16).
  void rpc('exit')
  await becomes('ready', 3)
  void rpc('exit')
  expect(await becomes('unavailable', 3)).toMatchObject({
    ...{ attached: false, hasScript: false, revision_id },
    recovery: { circuit_open: true, consecutive_failures: 3 },
  })
  expect(await becomes('ready', 4)).toMatchObject({
    recovery: { circuit_open: false, consecutive_failures: 0 },
  })
  // A candidate that comes while it is degraded, and ends its worker before it serves (8 and 11).
  void rpc('exit')
  await becomes('degraded', 4)
  save(
    `guildhall.on_start(({ reason }) => { if (reason === 'reload') process.exit() }); ${version(4)}`,
  )
  const failed = await becomes('degraded', 5)
  expect(failed).toMatchObject({ attached: false, recovery: { circuit_open: false } })
  expect(failed.revision_id).not.toBe(revision_id)
  expect([await health(), await ready()]).toEqual([200, 503])
  // It is the one that is started again.
  expect(await becomes('ready', 6)).toMatchObject({
    ...{ revision_id: failed.revision_id },
    recovery: { circuit_open: false },
  })
  expect([await rpc('version'), connection.state]).toEqual(['4', 'open'])
})

it('[S-RDY-1] row 14: an attempt that fails leaves it degraded, and the next one is made', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-flag-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const flag = join(folder, 'fails')
  const script = `import { existsSync } from 'node:fs'
    if (existsSync('${flag}')) throw new Error('not now')
    ${version(1)}`
  const { becomes, rpc } = await open(
    { 'main.js': script },
    { 'runtime.restart_backoff_ms': '1000', 'runtime.restart_limit': '10' },
  )
  await becomes('ready', 1)
  writeFileSync(flag, '')
  void rpc('exit')
  const { since_unix_millis, recovery } = await becomes('degraded', 1)
  expect(recovery).toMatchObject({ circuit_open: false, consecutive_failures: 1 })
  const failed = async () => {
    const seen = await becomes('degraded', 1)
    expect(seen.recovery.consecutive_failures).toBeGreaterThan(1)
    return seen
  }
  const after = await vi.waitFor(failed, eventually)
  expect(after.since_unix_millis).toBe(since_unix_millis)
  rmSync(flag)
  await becomes('ready', 2)
  expect(await rpc('version')).toBe('1')
})
