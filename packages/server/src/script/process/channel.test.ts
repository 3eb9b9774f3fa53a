import { ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { openHarness, startHarness } from '../host.fixture.ts'
import { protocolTimes } from '../wire/limits.ts'

const serving = `guildhall.on_rpc('ping', () => 'pong')`

/** To signal one that never began may end others: what does so here fails its test. */
function unspawned(): ChildProcessWithoutNullStreams {
  const child = new ChildProcess() as ChildProcessWithoutNullStreams
  child.kill = () => {
    throw new Error('it has no process')
  }
  return child
}

it('[S-GEN-2] [S-SEL-3] a process that cannot be started fails its load, and no more', async () => {
  const childProcess = process.getBuiltinModule('node:child_process')
  const spawn = vi.spyOn(childProcess, 'spawn').mockImplementationOnce(() => {
    // What comes of `spawn` where there is no file left to open.
    const child = unspawned()
    process.nextTick(() => child.emit('error', new Error('spawn EMFILE')))
    return child
  })
  const { host } = openHarness({ files: { 'main.mjs': serving } })
  await expect(host.start()).rejects.toThrow('the worker ended: spawn EMFILE')
  spawn.mockRestore()
})

it('[S-GEN-2] [S-SEL-3] nor has one without a channel to be waited for', async () => {
  const childProcess = process.getBuiltinModule('node:child_process')
  const spawn = vi.spyOn(childProcess, 'spawn').mockImplementationOnce(() => {
    return unspawned()
  })
  const { host } = openHarness({ files: { 'main.mjs': serving } })
  await expect(host.start()).rejects.toThrow('the worker ended: it has no channel')
  spawn.mockRestore()
})

it('[S-WP-4] [S-REC-1] the channel of a worker ends with it, whoever else holds it', async () => {
  // It ends, and says so, when nobody reads any more what it writes.
  const writing = `trap '' PIPE; sleep 0.2; while echo x >&3; do sleep 0.02; done; touch ended`
  const { host, rpc, until, folder } = await startHarness({
    files: {
      'main.mjs': `
        import { spawn } from 'node:child_process'
        ${serving}
        guildhall.on_rpc('exit', () => {
          const stdio = ['ignore', 'ignore', 'ignore', 3, 4]
          const args = ['-c', ${JSON.stringify(writing)}]
          spawn('/bin/sh', args, { cwd: import.meta.dirname, stdio })
          process.exit(0)
        })`,
    },
  })
  await rpc('exit')
  await until(() => host.readiness().state === 'ready')
  expect(await rpc('ping')).toBe('pong')
  await until(() => existsSync(join(folder, 'ended')))
})

it('[S-WP-4] [S-TIER-1] the host code of a worker needs no globals of the script', async () => {
  const { host, rpc } = await startHarness({
    files: {
      'main.mjs': `
        guildhall.on_rpc('revision', () => guildhall.revision_id)
        guildhall.on_rpc('delete', () => {
          delete globalThis.Buffer
          delete globalThis.process
        })`,
    },
  })
  expect(await rpc('delete')).toBe('')
  expect(await rpc('revision')).toMatch(/^sha256:/)
  expect(host.metrics().script_worker_restarts_total).toBe(0)
})

it('[S-WP-4] [S-REC-1] a worker that sends too much says why it ended', async () => {
  const { host, rpc, until, lines } = await startHarness({
    files: {
      'main.mjs': `
        import { writeSync } from 'node:fs'
        ${serving}
        guildhall.on_rpc('much', () => {
          writeSync(3, Buffer.from(Uint32Array.from([0x3f_ff_ff_ff, 2]).buffer))
          return new Promise(() => {})
        })`,
    },
    stateBytesMax: 1_000_000,
  })
  expect(await rpc('much')).toEqual({ error: 'RPC runtime not available' })
  const reason = 'it sent a message that is too long'
  expect(lines('error')).toContainEqual(
    expect.objectContaining({ fields: expect.objectContaining({ reason }) }),
  )
  await until(() => host.readiness().state === 'ready')
})

it('[S-INV-4] [S-WP-7] a ping that comes with calls ends no slice of them', async () => {
  const { rpc, message, delivered, until, folder, clock } = await startHarness({
    files: {
      'main.mjs': `
        import { existsSync, writeFileSync } from 'node:fs'
        const file = (name) => new URL(name, import.meta.url)
        const word = new Int32Array(new SharedArrayBuffer(4))
        const hold = () => {
          writeFileSync(file('held'), '')
          while (!existsSync(file('free'))) Atomics.wait(word, 0, 0, 10)
        }
        guildhall.on_rpc('hold', () => void setTimeout(hold))
        guildhall.on_message(100, async () => {
          guildhall.broadcast(100, 'x')
          await null
          throw new Error('in the same slice')
        })`,
    },
  })
  await rpc('hold')
  await until(() => existsSync(join(folder, 'held')))
  const called = message(100)
  await clock.sleep(protocolTimes.beatEveryMs * 1.1)
  writeFileSync(join(folder, 'free'), '')
  expect(await called).toBe('failed')
  expect(delivered).toEqual([])
})
