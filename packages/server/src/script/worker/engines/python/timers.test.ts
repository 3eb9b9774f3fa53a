import { beforeEach, describe, expect, it } from 'vitest'
import { createSystemClock } from '../../../../kernel/clock.ts'
import { shareScript } from './python.fixture.ts'

const script = `
import guildhall, asyncio

loop = asyncio.get_running_loop()

@guildhall.on_rpc("day")
async def day():
    async with asyncio.timeout(100_000):
        await guildhall.sleep(30)
    return "slept"

@guildhall.on_rpc("chain")
async def chain():
    try:
        async with asyncio.timeout(25):
            await asyncio.Event().wait()
    except TimeoutError:
        return "timed out"

@guildhall.on_rpc("many")
async def many():
    for _ in range(200):
        await asyncio.wait_for(asyncio.sleep(0), 3600)
    return "done"

@guildhall.on_rpc("order")
async def order():
    seen = []
    ended = asyncio.Event()
    now = loop.time()
    loop.call_at(now + 0.03, lambda: (seen.append("third"), ended.set()))
    loop.call_at(now + 0.01, seen.append, "first")
    loop.call_at(now + 0.02, seen.append, "second")
    loop.call_at(now + 0.02, seen.append, "none").cancel()
    await ended.wait()
    return seen

@guildhall.on_rpc("full")
async def full():
    for _ in range(64): guildhall.sleep(1)
    try:
        loop.call_later(1, print)
    except guildhall.Error as error:
        return error.code

@guildhall.on_rpc("given_up")
async def given_up():
    async with asyncio.timeout(3600):
        await asyncio.Event().wait()

@guildhall.on_rpc("left")
def left(): return len(loop._timers)
`

/** Milliseconds of the waits that the node was asked for. Its time goes by fast. */
const asked: number[] = []
const clock = createSystemClock()
const shared = shareScript({
  files: { 'main.py': script },
  config: { call_timeout_ms: 2000 },
  functions: {
    sleep: (_caller, { ms }) => {
      asked.push(ms)
      return clock.sleep(Math.min(ms, 30))
    },
  },
})

describe('[S-API-34] the timers of asyncio', () => {
  beforeEach(() => asked.splice(0))

  it('do not go off before their time, however long that is', async () => {
    expect(await shared().rpc('day')).toBe('slept')
    expect(asked).toContain(10_000)
  })

  it('go by the clock of the node, one wait after the other', async () => {
    expect(await shared().rpc('chain')).toBe('timed out')
    expect(asked.map((ms) => Math.round(ms / 100))).toEqual([100, 100, 50])
  })

  it('[S-LIM-3] leave nothing behind when they are cancelled', async () => {
    expect(await shared().rpc('many')).toBe('done')
    expect(asked.length).toBeLessThan(5)
  })

  it('go off in their order', async () => {
    expect(await shared().rpc('order')).toBe('["first","second","third"]')
  })

  it('[S-LIM-3] are refused where no call is free', async () => {
    expect(await shared().rpc('full')).toBe('limit_exceeded')
  })

  it('[S-LIM-4] end with their handler', async () => {
    expect(await shared().rpc('given_up')).toEqual({ error: 'RPC handler timed out' })
    await expect.poll(() => shared().rpc('left')).toBe('0')
  })
})
