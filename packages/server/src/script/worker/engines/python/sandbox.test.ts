import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { shareScript } from './python.fixture.ts'

/**
 * Each tries to reach something outside, and would return it. All raise, or find nothing. `body` is
 * the number of a port where somebody listens.
 */
const probes: { readonly [name: string]: string } = {
  // Processes.
  system: 'import os; return os.system("id")',
  'system of posix': 'import posix; return posix.system("id")',
  popen: 'import os; return os.popen("id").read()',
  subprocess: 'import subprocess; return subprocess.check_output(["id"])',
  fork: 'import os; return os.fork()',
  exec: 'import os; os.execv("/bin/sh", ["sh"]); return 1',
  kill: 'import os; os.kill(os.getppid(), 9); return 1',
  'native launcher': 'import _posixsubprocess; return 1',
  thread: 'import threading; threading.Thread(target=print).start(); return 1',
  executor:
    'import concurrent.futures as c; return c.ThreadPoolExecutor().submit(lambda: 1).result()',
  // Files.
  passwd: 'return open("/etc/passwd").read()',
  'the folder of the process': 'return open("/proc/self/environ").read()',
  'the root of the host':
    'import os; return [f for f in os.listdir("/") if f in ("etc", "work", "usr")][0]',
  'a file of Node.js': 'import os; return os.stat("/usr").st_size',
  write: 'open("/tmp/written", "w").write("x"); return 1',
  append: 'open("/game/main.py", "a").write("x"); return 1',
  'low-level write': 'import os; os.open("/game/new", os.O_CREAT | os.O_WRONLY); return 1',
  mkdir: 'import os; os.mkdir("/game/sub"); return 1',
  remove: 'import os; os.remove("/game/main.py"); return 1',
  rename: 'import os; os.rename("/game/main.py", "/game/other.py"); return 1',
  symlink: 'import os; os.symlink("/etc", "/game/etc"); return 1',
  chmod: 'import os; os.chmod("/game/main.py", 0o777); return 1',
  truncate: 'import os; os.truncate("/game/main.py", 0); return 1',
  tempfile: 'import tempfile; tempfile.TemporaryFile(); return 1',
  pathlib: 'import pathlib; pathlib.Path("/game/x").write_text("x"); return 1',
  shutil: 'import shutil; shutil.copy("/game/main.py", "/game/copy.py"); return 1',
  sqlite: 'import sqlite3; sqlite3.connect("/game/x.db"); return 1',
  mmap: 'import mmap; return mmap.mmap(-1, 10)[0] or 1',
  // Network.
  'a socket': 'import socket; return socket.socket()',
  connection: 'import socket; s = socket.socket(); s.connect(("127.0.0.1", int(body))); return 1',
  'listening socket':
    'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); return 1',
  'name lookup': 'import socket; return socket.getaddrinfo("localhost", 80)',
  'asyncio connection':
    'import asyncio; asyncio.get_running_loop().create_connection(None, "127.0.0.1", int(body)).send(None); return 1',
  // The environment.
  environment:
    'import os; return [v for v in os.environ if "GUILD" in v or "NODE" in v or v == "SECRET"][0]',
  'the program':
    'import sys; return [a for a in sys.orig_argv + [sys.executable] if "node" in a or "work" in a][0]',
  // The hosting language.
  'module js': 'import js; return 1',
  'module pyodide': 'import pyodide; return 1',
  'module pyodide_js': 'import pyodide_js; return 1',
  'core of pyodide': 'import _pyodide_core; return 1',
  run_js: 'from pyodide.code import run_js; return run_js("1")',
  micropip: 'import micropip; return 1',
  'a class of the bridge':
    'return [c for c in object.__subclasses__() if "JsProxy" in c.__name__ or "jsproxy" in c.__name__][0]',
  'an object of the bridge':
    'import gc; return [o for o in gc.get_objects() if "pyodide" in type(o).__module__][0]',
  'what the function of the host belongs to': 'return way_out.__self__.constructor',
  'the function behind all':
    'return [getattr(way_out, n) for n in ("constructor", "prototype", "js_id") if hasattr(way_out, n)][0]',
  // Native code.
  ctypes: 'import ctypes; return ctypes.CDLL(None)',
  'native ctypes': 'import _ctypes; return 1',
  'an extension':
    'import importlib.machinery as m; try: m.ExtensionFileLoader("x", "/game/native.json").create_module(m.ModuleSpec("x", None, origin="/game/native.json")); except ImportError as problem: return "loaded" if "PyInit_x" in str(problem) else None',
  'removed from the table':
    'import _imp, importlib.machinery as m; return _imp.create_builtin(m.ModuleSpec("_ctypes", None))',
  'posix made anew':
    'import _imp, importlib.machinery as m; p = _imp.create_builtin(m.ModuleSpec("posix", None)); _imp.exec_builtin(p); p._exit(3); return 1',
  '_signal made anew':
    'import _imp, importlib.machinery as m; p = _imp.create_builtin(m.ModuleSpec("_signal", None)); _imp.exec_builtin(p); p.signal(2, p.SIG_IGN); return 1',
  'time made anew':
    'import _imp, importlib.machinery as m; p = _imp.create_builtin(m.ModuleSpec("time", None)); _imp.exec_builtin(p); p.sleep(0.001); return 1',
  'posix imported again':
    'import sys; sys.modules.pop("posix"); import posix; posix._exit(3); return 1',
  testcapi: 'import _testcapi; return 1',
  'test of internals': 'import _testinternalcapi; return 1',
  faulthandler: 'import faulthandler; faulthandler._sigsegv(); return 1',
  'an extension whose names all see':
    'import sys, _imp, importlib.machinery as m; sys.setdlopenflags(258); try: _imp.create_dynamic(m.ModuleSpec("x", None, origin="/game/native.json")); except ImportError as problem: return "loaded" if "PyInit_x" in str(problem) else None',
  // Signals, timers of the system, the debugger.
  'signal handlers': 'import signal; signal.signal(2, signal.SIG_IGN); return 1',
  'native signal handlers': 'import _signal; _signal.signal(2, _signal.SIG_IGN); return 1',
  alarm: 'import signal; signal.alarm(1); return 1',
  raise: 'import signal; signal.raise_signal(9); return 1',
  'remote debugger': 'import sys, os; sys.remote_exec(os.getpid(), "/game/main.py"); return 1',
  terminal: 'import termios; return 1',
  exit: 'import os; os._exit(3); return 1',
  abort: 'import os; os.abort(); return 1',
  'sys.exit': 'import sys; sys.exit(3)',
  input: 'return input()',
  'a crafted reply': 'way_out(b"not marshal"); return None',
  'crafted bytes': 'return way_out(b"(\\xff\\xff\\xff\\x7f")[9]',
}

/** A library of native code that can be loaded, as text: it has nothing in it. */
const library = '\0asm\x01\0\0\0\0\x0f\x08dylink.0\x01\x04\0\0\0\0'

const script = [
  'import guildhall',
  // Without it the script does not load: the probes would prove nothing.
  'way_out = guildhall.send.__globals__["_host"]',
  ...Object.values(probes).flatMap((code, at) => [
    `@guildhall.on_rpc("${at}")`,
    `def probe_${at}(ctx, body):`,
    '    try:',
    `        def run(): ${code.includes('; ') ? 'pass' : code}`,
    ...(code.includes('; ')
      ? ['        def run():', ...code.split('; ').map((line) => `            ${line}`)]
      : []),
    '        found = run()',
    '        return None if found is None or found == -1 else f"reached: {found!r}"',
    '    except Exception as error:',
    '        return None',
  ]),
  '@guildhall.on_rpc("alive")',
  'def alive(): return "alive"',
].join('\n')

describe.each(['trusted', 'sandboxed'] as const)(
  '[S-TIER-2] [S-TIER-3] [S-TIER-6] [S-TIER-7] a %s script of Python does not reach',
  (tier) => {
    const shared = shareScript({
      files: { 'main.py': script, 'native.json': library },
      // Some import a part of the library, which takes its time.
      config: { deadline_ms: 5000, tier },
      environment: { ...process.env, SECRET: 'secret', GUILDHALL_X: '1' },
    })

    let connections = 0
    const listener = createServer((socket) => {
      connections += 1
      socket.destroy()
    })
    const port = () => (listener.address() as AddressInfo).port
    beforeAll(async () => {
      await once(listener.listen(0, '127.0.0.1'), 'listening')
    })
    afterAll(() => void listener.close())

    it.each(Object.keys(probes).map((name, at) => [name, String(at)]))(
      '%s',
      async (name, method) => {
        const reply = await shared().rpc(method, String(port()))
        // What ends the interpreter like SystemExit is an error of its handler.
        if (name === 'sys.exit') expect(reply).toEqual({ error: 'RPC handler error' })
        else expect(reply).toBe('')
        expect(await shared().rpc('alive')).toBe('alive')
        expect(shared().host.describe().readiness.generation).toBe(1)
      },
    )

    it('who listens on this machine', async () => {
      // The first one to come is this test itself.
      await once(connect(port(), '127.0.0.1'), 'close')
      expect(connections).toBe(1)
    })
  },
)
