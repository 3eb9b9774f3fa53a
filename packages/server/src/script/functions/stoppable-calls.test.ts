import { expect, it } from 'vitest'
import { createSystemClock } from '../../kernel/clock.ts'
import type { ScriptCaller } from '../../kernel/play/script.ts'
import { startHarness } from '../host.fixture.ts'
import type { HostFunctions } from '../ports.ts'
import { StoppableCalls } from './stoppable-calls.ts'

const dayMs = 86_400_000

/** `sleep` of a node, with how many of them wait. */
function sleeps() {
  const clock = createSystemClock()
  let open = 0
  const functions: HostFunctions = {
    async sleep(caller, args) {
      const { ms } = args as { ms: number }
      open += 1
      await clock.sleep(ms, (caller as ScriptCaller).signal?.()).catch(() => {})
      open -= 1
    },
  }
  return { functions, open: () => open }
}

const script = `
guildhall.on_rpc('day', () => guildhall.sleep(${dayMs}))
guildhall.on_rpc('later', () => {
  void guildhall.sleep(20).then(() => guildhall.broadcast(100, 'later'))
  return 'now'
})
guildhall.on_rpc('exit', () => {
  void guildhall.sleep(${dayMs})
  setTimeout(() => process.exit(1), 20)
})`

it('[S-API-34] [S-REC-5] a call like one that is open is refused, and hides it from nobody', () => {
  const calls = new StoppableCalls()
  const call = { invocation: 1, id: 7 }
  const first = calls.begin(call)
  const signal = first.signal()
  const forged = calls.begin(call)
  expect(() => forged.signal()).toThrow('call 7 is open already')
  forged.end()
  calls.stopAll()
  expect(signal.aborted).toBe(true)
  first.end()
  expect(calls.begin(call).signal().aborted).toBe(false)
})

it('[S-API-34] [S-LIM-4] a sleep ends with the call that is given up, and leaves no timer', async () => {
  const { functions, open } = sleeps()
  const config = { call_timeout_ms: 200 }
  const { rpc, until } = await startHarness({ files: { 'main.js': script }, config, functions })
  const asked = [rpc('day'), rpc('day')]
  await until(() => open() === 2)
  expect(await Promise.all(asked)).toEqual([
    { error: 'RPC handler timed out' },
    { error: 'RPC handler timed out' },
  ])
  await until(() => open() === 0)
})

it('[S-API-34] and one that nobody waits for goes on behind its call', async () => {
  const { functions, open } = sleeps()
  const { rpc, until, delivered } = await startHarness({ files: { 'main.js': script }, functions })
  expect(await rpc('later')).toBe('now')
  await until(() => delivered.length === 1)
  expect(open()).toBe(0)
})

it('[S-API-34] [S-REC-5] no sleep outlives its worker', async () => {
  const { functions, open } = sleeps()
  const { rpc, until } = await startHarness({ files: { 'main.js': script }, functions })
  await rpc('exit')
  await until(() => open() === 0)
})

const python = `
import asyncio
day = 86_400_000
kept = None

@guildhall.on_rpc("late")
async def late():
    try:
        await asyncio.wait_for(guildhall.sleep(day), 0.02)
    except TimeoutError:
        return "late"

@guildhall.on_rpc("task")
async def task():
    slept = asyncio.create_task(asyncio.sleep(86_400))
    await guildhall.sleep(20)
    slept.cancel()
    [ended] = await asyncio.gather(slept, return_exceptions=True)
    return type(ended).__name__

@guildhall.on_rpc("many")
async def many():
    for _ in range(100):
        try:
            await asyncio.wait_for(guildhall.sleep(day), 0.001)
        except TimeoutError:
            pass
    return "done"

@guildhall.on_rpc("unsent")
async def unsent():
    for _ in range(100):
        guildhall.sleep(day).cancel()
        await asyncio.sleep(0)
    return "none"

@guildhall.on_rpc("keep")
def keep():
    global kept
    kept = guildhall.sleep(day)

@guildhall.on_rpc("cancel")
def cancel(): return kept.cancel()
`

it('[S-LIM-3] [S-API-34] what a script of Python cancels is stopped, and its place is free', async () => {
  const { functions, open } = sleeps()
  const { rpc, until } = await startHarness({
    files: { 'main.py': python },
    config: { memory_mb: 128 },
    functions,
  })
  expect(await rpc('late')).toBe('late')
  await until(() => open() === 0)
  expect(await rpc('task')).toBe('CancelledError')
  await until(() => open() === 0)
  expect(await rpc('many')).toBe('done')
  await until(() => open() === 0)
  expect(await rpc('unsent')).toBe('none')
  expect(open()).toBe(0)
  await rpc('keep')
  await until(() => open() === 1)
  expect(await rpc('cancel')).toBe('true')
  await until(() => open() === 0)
})
