import { readFileSync } from 'node:fs'
import { scriptApi, scriptHooks } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { player } from '../../../host.fixture.ts'
import { loadProblem, shareScript } from './python.fixture.ts'

const script = `
import guildhall, asyncio, json, re
from guildhall import Error
from rules import combat
import rules.loot as loot

levels = json.load(open("levels.json"))
event = asyncio.Event()
seen = []

@guildhall.on_message(100)
def relay(ctx, body):
    guildhall.broadcast(100, guildhall.pack_u64(ctx.sender) + body, False)

@guildhall.on_rpc("reply")
def reply(ctx, body):
    return eval(body.decode())

@guildhall.on_rpc("call")
def call(ctx, body):
    try:
        return repr(eval(body.decode(), {"guildhall": guildhall, "ctx": ctx, "body": body}))
    except Error as error:
        return f"{error.code}: {error}"

@guildhall.on_rpc("imports")
def imports():
    return [combat.damage(2), loot.table["gold"], levels["first"]]

@guildhall.on_rpc("none")
async def none(): pass

@guildhall.on_rpc("stub")
def stub(ctx, body):
    text = open("stub.py").read()
    compile(text, "guildhall.pyi", "exec")
    declared = set(re.findall(r"def (\\w+)\\(", text))
    return [name for name in json.loads(body) if name not in declared]

@guildhall.on_rpc("gather")
async def gather():
    first, second = await asyncio.gather(guildhall.session_list(), guildhall.online(["u"]))
    return [first[0].participant, first[0]["username"], first[0].user_id, second]

@guildhall.on_rpc("sleep")
async def sleep():
    await asyncio.sleep(0.001)
    await guildhall.sleep(1)
    try:
        async with asyncio.timeout(0.005):
            await guildhall.sleep(5000)
    except TimeoutError:
        return "timed out"

@guildhall.on_rpc("refused")
async def refused():
    try:
        await guildhall.online(["x"] * 1001)
    except Error as error:
        return error.code

@guildhall.on_rpc("wait")
async def wait(ctx):
    await event.wait()
    guildhall.broadcast(101, str(ctx.sender))
    await guildhall.session_list()
    return ctx.sender

@guildhall.on_rpc("set")
def set_event(ctx):
    guildhall.broadcast(102, str(ctx.sender))
    event.set()

@guildhall.on_rpc("later")
def later():
    async def background():
        await guildhall.sleep(1)
        seen.append("background")
        guildhall.broadcast(103, "later", scope="all")
    asyncio.create_task(background())

@guildhall.on_rpc("every")
async def every():
    async def tick():
        await guildhall.sleep(1)
        seen.append("tick")
        guildhall.cancel(timer)
    timer = guildhall.every(10, tick)

@guildhall.on_rpc("seen")
def show(): return sorted(seen)

def inner(): raise ValueError("no such item")

@guildhall.on_rpc("throws")
def throws(): inner()

@guildhall.on_rpc("throws_later")
async def throws_later():
    guildhall.broadcast(104, "kept")
    await guildhall.session_list()
    guildhall.broadcast(105, "dropped")
    inner()

@guildhall.on_rpc("fails")
async def fails():
    await guildhall.session_list()
    guildhall.fail("no gold", code="poor", data={"gold": 3})

@guildhall.on_rpc("prints")
def prints():
    import sys
    print("to the log", 1)
    print("an error", file=sys.stderr)
`

const shared = shareScript({
  files: {
    'main.py': `\ufeff${script}`,
    'rules/__init__.py': '',
    'rules/combat.py': 'def damage(n): return n * 2',
    'rules/loot.py': 'from rules.combat import damage\ntable = {"gold": damage(5)}',
    'stub.py': readFileSync(new URL('../../../../../guildhall.pyi', import.meta.url), 'utf8'),
    'levels.json': '\ufeff{"first": "meadow"}',
  },
  functions: {
    session_list: () => [{ participant: 7, user_id: null, username: 'ann', room_id: null }],
    online: () => ['u'],
  },
})
const reply = (code: string) => shared().rpc('reply', code)
const call = (code: string) => shared().rpc('call', code)

/** What an expression comes to. */
const calls = [
  [
    'guildhall.json.decode(b"[9007199254740993, 1.0, 1e3, 1.5, null, -0]")',
    '[9007199254740993, 1, 1000, 1.5, None, 0]',
  ],
  ['guildhall.json.encode({"n": 2**62, "f": 3.0})', `b'{"n":4611686018427387904,"f":3}'`],
  ['guildhall.json.encode(ctx)[:10]', `b'{"sender":'`],
  [
    'guildhall.json.encode({"a": [float("inf")]})',
    'invalid_argument: json.encode: value.a[0] is Infinity, which is no JSON',
  ],
  [
    'guildhall.json.encode({"a": [print]})',
    'invalid_argument: json.encode: value.a[0] is a builtin_function_or_method, which is no JSON',
  ],
  [
    'guildhall.json.encode(b"x")',
    'invalid_argument: json.encode: value is bytes, which are no JSON',
  ],
  [
    'guildhall.json.encode({1})',
    'invalid_argument: json.encode: a value has no form outside of Python',
  ],
  ['guildhall.pack_u64(2**64 - 1)', `b'\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff'`],
  [
    '(ctx.sender, ctx["sender"], ctx.user_id, "room_id" in ctx, ctx.match_id)',
    "(1, 1, 'user-1', True, None)",
  ],
  [
    'guildhall.allow("k", 1, 1000), guildhall.allow(key="k", limit=1, window_ms=1000)',
    '(True, False)',
  ],
  ['guildhall.broadcast(100, b"", scope="all", except_=[2])', 'None'],
  ['guildhall.broadcast(100, b"", False, {"scope": "all"})', 'None'],
  [
    'guildhall.broadcast(100, b"", nobody=1)',
    'invalid_argument: broadcast: there is no option nobody',
  ],
  ['guildhall.trace("x", lvl="info")', 'invalid_argument: trace: there is no argument lvl'],
  ['guildhall.trace("\\ud800")', 'invalid_argument: trace: message has a lone surrogate'],
  [
    'guildhall.after(10, "not a function")',
    'invalid_argument: after: the second argument is not a function',
  ],
  [
    'guildhall.on_rpc("late", print)',
    'invalid_argument: on_rpc: handlers are registered while the script starts, not later',
  ],
  [
    'guildhall.tier, guildhall.node_id, guildhall.generation, guildhall.revision_id[:7]',
    "('trusted', 'node-1', 1, 'sha256:')",
  ],
]

describe('a script of Python', () => {
  it('[S-LANG-1] relays bytes by a decorated handler', async () => {
    await shared().message(100, 'hé', player(7))
    expect(shared().delivered.at(-1)).toMatchObject({
      to: 'broadcast',
      sender: 7,
      bytes: [0, 0, 0, 0, 0, 0, 0, 7, 104, 195, 169],
    })
  })

  it('[S-SEL-5] [S-SEL-7] imports files of its folder and reads its JSON', async () => {
    expect(await shared().rpc('imports')).toBe('[4,10,"meadow"]')
  })
})

describe('[S-LANG-1] the values of Python', () => {
  it.each([
    ['None', ''],
    ['"text"', 'text'],
    ['b"\\x68i"', 'hi'],
    ['bytearray(b"hi")', 'hi'],
    ['{"a": [1, None, True, 1.5, "é"], "b": {}}', '{"a":[1,null,true,1.5,"é"],"b":{}}'],
    ['(1, 2)', '[1,2]'],
    ['2**53 + 1', '9007199254740993'],
    ['-2**63', '-9223372036854775808'],
    ['2.0', '2'],
    [
      'ctx',
      '{"sender":1,"user_id":"user-1","username":"name-1","room_id":null,"match_id":null,' +
        '"origin":"player","method":"reply"}',
    ],
  ])('[S-LANG-1] replies %s', async (code, text) => {
    expect(await reply(code)).toBe(text)
  })

  it.each([
    '2**64',
    'float("nan")',
    '"\\ud800"',
    '{1: 2}',
    '{1, 2}',
    'object()',
    'print',
    '[x := [], x.append(x)][0]',
  ])('[S-LANG-4] refuses the reply %s', async (code) => {
    expect(await reply(code)).toEqual({ error: 'RPC handler error' })
  })

  it.each(calls)('[S-LANG-1] [S-LANG-3] %s', async (code, text) => {
    expect(await call(code)).toBe(text)
  })
})

describe('a handler of Python', () => {
  it('[S-LANG-5] has a stub that names every function and hook', async () => {
    const names = [...Object.entries(scriptApi), ...Object.entries(scriptHooks)]
      .filter(([, row]) => !('planned' in row))
      .map(([name]) => name.split('.').at(-1) ?? '')
    expect(await shared().rpc('stub', JSON.stringify(names))).toBe('[]')
  })

  it('[S-API-1] awaits what the node answers, also several at once', async () => {
    expect(await shared().rpc('gather')).toBe('[7,"ann",null,["u"]]')
    expect(await shared().rpc('refused')).toBe('invalid_argument')
    expect(await shared().rpc('none')).toBe('')
  })

  it.each([1000, 1023, 1024, 65_530, 70_000, 200_000])('takes and gives %i bytes', async (size) => {
    const body = 'x'.repeat(size)
    expect(
      await call(
        `len(body), guildhall.json.decode(guildhall.json.encode(body.decode()))[-1:]${' '.repeat(size)}`,
      ),
    ).toBe(`(${body.length + 75}, ' ')`)
  })

  it('[S-API-34] sleeps, by asyncio too', async () => {
    expect(await shared().rpc('sleep')).toBe('timed out')
  })

  it('[S-INV-1] goes on as itself, whoever ends the wait', async () => {
    const waiting = shared().rpc('wait', '', player(8))
    await shared().rpc('none')
    await shared().rpc('set', '', player(9))
    expect(await waiting).toBe('8')
    const sent = shared().delivered.filter(({ kind }) => kind === 101 || kind === 102)
    expect(sent).toMatchObject([
      { kind: 102, text: '9', sender: 9 },
      { kind: 101, text: '8', sender: 8 },
    ])
  })

  it('[S-INV-5] goes on without a sender when its handler has ended', async () => {
    await shared().rpc('later', '', player(9))
    await shared().until(() => shared().delivered.some(({ kind }) => kind === 103))
    expect(shared().delivered.at(-1)).toMatchObject({ kind: 103, sender: 0 })
  })

  it('[S-API-29] has timers, also of coroutines', async () => {
    await shared().rpc('every')
    await expect.poll(() => shared().rpc('seen')).toBe('["background","tick"]')
  })

  it('[S-GEN-2] says where an error was thrown', async () => {
    await shared().rpc('throws')
    expect(shared().lines('warn').at(-1)?.fields).toMatchObject({
      at: 'main.py:93',
      reason: 'ValueError: no such item (called from main.py:96)',
    })
  })

  it('[S-INV-4] drops the commands of the slice that fails, and no other', async () => {
    expect(await shared().rpc('throws_later')).toEqual({ error: 'RPC handler error' })
    const kinds = shared().delivered.map(({ kind }) => kind)
    expect(kinds).toContain(104)
    expect(kinds).not.toContain(105)
    expect(await shared().rpc('fails')).toEqual({ error: 'no gold' })
  })

  it('[S-TIER-4] prints to the log of the process', async () => {
    await shared().rpc('prints')
    await shared().until(() => shared().lines('error').length > 0)
    expect(
      shared()
        .lines('info')
        .map(({ message }) => message),
    ).toContain('to the log 1')
    expect(
      shared()
        .lines('error')
        .map(({ message }) => message),
    ).toContain('an error')
  })
})

describe('[S-SEL-3] a script that cannot be loaded', () => {
  it.each([
    ['main.py', 'import guildhall\ndef broken(:\n  pass', 'main.py:2: SyntaxError: invalid syntax'],
    [
      'main.py',
      'import guildhall\nimport nothing_there',
      "main.py:2: ModuleNotFoundError: No module named 'nothing_there'",
    ],
    ['main.py', 'x = 1\n1 / 0', 'main.py:2: ZeroDivisionError: division by zero'],
    ['main.py', 'x = 1', 'main.py: the script registers no handler'],
    ['random.py', '', 'random.py has the name of a module of Python: give it another'],
  ])('%s %j', async (file, text, problem) => {
    expect(await loadProblem({ files: { 'main.py': '', [file]: text } })).toContain(problem)
  })
})
