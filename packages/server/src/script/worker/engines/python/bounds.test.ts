import { describe, expect, it } from 'vitest'
import { player } from '../../../host.fixture.ts'
import { shareScript } from './python.fixture.ts'

/** Code that never ends by itself. */
const endless: { readonly [name: string]: string } = {
  loop: 'while True: pass',
  'loop that catches all':
    'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
  'nested handlers': 'try:\n    while True: pass\nfinally:\n    while True: pass',
  generator:
    'def g():\n    while True:\n        try: yield 1\n        except BaseException: pass\nsum(g())',
  comprehension: '[x for x in iter(int, 1)]',
  pattern: 'import re\nre.match(r"(a+)+$", "a" * 40 + "b")',
  finalizer: 'class F:\n    def __del__(self):\n        while True: pass\nF()\nwhile True: pass',
  'context manager':
    'import contextlib\nwhile True:\n    with contextlib.suppress(BaseException):\n        while True: pass',
  'recursion that catches':
    'def f():\n    try:\n        while True: pass\n    except BaseException: f()\nf()',
  'message of an error':
    'class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E',
  'reply without end':
    'from collections import UserDict\nclass R(UserDict):\n    def items(self):\n        while True: yield "a", 1\nreturn R()',
  'slow steps behind quick ones': 'for n in range(50_000): pass\nwhile True: sorted(items)',
  tracing:
    'import sys\nsys.settrace(lambda *a: None)\ntry:\n    while True: pass\nfinally: sys.settrace(None)',
}

const indent = (code: string) =>
  code
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')

const script = `
import guildhall, asyncio, itertools, sys, time
count = 0
items = [n * 7_919 % 200_003 for n in range(200_000)]

${Object.values(endless)
  .map((code, at) => `@guildhall.on_rpc("endless_${at}")\ndef endless_${at}():\n${indent(code)}`)
  .join('\n\n')}

@guildhall.on_rpc("after_wait")
async def after_wait():
    await guildhall.session_list()
    guildhall.broadcast(100, "dropped")
    while True:
        try:
            while True: await asyncio.sleep(0)
        except BaseException: pass

@guildhall.on_rpc("given_up")
async def given_up():
    try:
        await guildhall.sleep(60_000)
    finally:
        try:
            guildhall.broadcast(100, "late")
        except guildhall.Error as error:
            print("ended with", error.code)

began = ended = 0
@guildhall.on_rpc("marks")
def marks():
    global began, ended
    began = time.monotonic()
    while True: ended = time.monotonic()

@guildhall.on_rpc("marked")
def marked(): return round((ended - began) * 1000)

event = asyncio.Event()
@guildhall.on_rpc("waits")
async def waits():
    await event.wait()
    return "went on"

@guildhall.on_rpc("wakes")
def wakes():
    event.set()
    while True: pass

finalized = 0
class Endless:
    def __del__(self):
        global finalized
        finalized += 1
        while True: pass

@guildhall.on_rpc("leaves")
def leaves():
    kept = Endless()
    guildhall.after(1, lambda: kept and None)

@guildhall.on_rpc("finalized")
def has_finalized():
    for _ in range(500): guildhall.cancel(guildhall.after(60_000, lambda: None))
    return finalized

@guildhall.on_rpc("dots")
def dots():
    for _ in range(80): sys.stdout.write("." * 1_000_000)
    sys.stdout.flush()

@guildhall.on_rpc("native loop")
def native_loop(): return sum(itertools.repeat(0))

@guildhall.on_rpc("bytes")
def use_bytes():
    kept = []
    while True: kept.append(bytes(10_000_000))

@guildhall.on_rpc("one")
def one_large(): return bytes(2_000_000_000) and "no"

@guildhall.on_rpc("text")
def text():
    value = "x"
    while True: value = value * 2

@guildhall.on_rpc("table")
def table(): return len({n: [n] for n in range(50_000_000)})

@guildhall.on_rpc("recursion")
def recursion():
    def f(n): return f(n + 1) + 1
    return f(0)

@guildhall.on_rpc("native recursion")
def native_recursion():
    class A:
        def __getattr__(self, name): return getattr(self, name + "x")
    return A().x

@guildhall.on_rpc("nested")
def nested():
    value = []
    for _ in range(20_000): value = [value]
    return len(repr(value))

@guildhall.on_rpc("deep reply")
def deep_reply():
    value = []
    for _ in range(200): value = [value]
    return value

@guildhall.on_rpc("many")
def many():
    for n in range(2000): guildhall.send(1, 100, b"x")

@guildhall.on_rpc("count")
def counted():
    global count
    count += 1
    return count
`

const shared = shareScript({
  files: { 'main.py': script },
  config: { deadline_ms: 300, call_timeout_ms: 2000 },
  functions: { session_list: () => [] },
})
let calls = 0

/** The state of the script is still there. */
async function expectAlive(): Promise<void> {
  calls += 1
  expect(await shared().rpc('count')).toBe(String(calls))
}

describe('[S-LIM-1] a handler of Python is interrupted, and its state lives on', () => {
  it.each(Object.keys(endless).map((name, at) => [name, at]))('%s', async (_name, at) => {
    const reply = await shared().rpc(`endless_${at}`)
    expect(reply).toEqual({ error: 'RPC handler timed out' })
    await expectAlive()
  })

  it('after a wait as well', async () => {
    expect(await shared().rpc('after_wait')).toEqual({ error: 'RPC handler timed out' })
    expect(shared().delivered).toEqual([])
    await expectAlive()
  })

  it('not before its deadline', async () => {
    expect(await shared().rpc('marks')).toEqual({ error: 'RPC handler timed out' })
    // The handler begins a little after its slice.
    expect(Number(await shared().rpc('marked'))).toBeGreaterThan(290)
    await expectAlive()
  })

  it('[S-INV-3] and whom it has woken goes on', async () => {
    const waiting = shared().rpc('waits', '', player(8))
    expect(await shared().rpc('wakes', '', player(9))).toEqual({ error: 'RPC handler timed out' })
    expect(await waiting).toBe('went on')
    await expectAlive()
  })

  it('and so is a finalizer that runs when a timer has ended', async () => {
    await shared().rpc('leaves')
    await expect.poll(() => shared().rpc('finalized')).toBe('1')
    await expectAlive()
  })

  it('[S-LIM-4] and one that waits too long ends, with its last lines', async () => {
    expect(await shared().rpc('given_up')).toEqual({ error: 'RPC handler timed out' })
    await shared().until(() =>
      shared()
        .lines('info')
        .some(({ message }) => message === 'ended with timeout'),
    )
    expect(shared().delivered).toEqual([])
    await expectAlive()
  })
})

describe('[S-TIER-5] what needs too much is an error of its handler', () => {
  // It fills its memory before anybody would interrupt it.
  const patient = shareScript({ files: { 'main.py': script }, config: { deadline_ms: 5000 } })

  it.each(['bytes', 'one', 'text', 'table', 'recursion', 'native recursion'])(
    '%s',
    async (method) => {
      expect(await patient().rpc(method)).toEqual({ error: 'RPC handler error' })
      expect(Number(await patient().rpc('count'))).toBeGreaterThan(0)
      expect(patient().host.describe().readiness.generation).toBe(1)
    },
  )

  it('[S-TIER-4] but what is printed without a newline is cut', async () => {
    expect(await patient().rpc('dots')).toBe('')
    expect(Number(await patient().rpc('count'))).toBeGreaterThan(0)
    expect(patient().host.describe().readiness.generation).toBe(1)
  })

  it.each(['nested', 'deep reply', 'many'])('%s', async (method) => {
    expect(await patient().rpc(method)).toEqual({ error: 'RPC handler error' })
    expect(patient().host.describe().readiness.generation).toBe(1)
  })
})

describe('[S-LIM-2] native code that never ends', () => {
  const fragile = shareScript({ files: { 'main.py': script }, config: { deadline_ms: 100 } })

  it('costs the worker, and another one serves', async () => {
    expect(await fragile().rpc('count')).toBe('1')
    expect(await fragile().rpc('native loop')).toEqual({ error: 'RPC handler timed out' })
    const { readiness } = fragile().host.describe()
    expect(readiness.state).not.toBe('ready')
    await fragile().until(() => fragile().host.describe().readiness.state === 'ready')
    expect(fragile().host.describe().readiness.generation).toBe(2)
    expect(await fragile().rpc('count')).toBe('1')
  })
})
