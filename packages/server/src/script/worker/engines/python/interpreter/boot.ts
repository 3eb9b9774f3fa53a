import { readFileSync } from 'node:fs'
import type { Machine } from './machine.ts'
import { newText } from './texts.ts'

/** The Python of this engine, in the order in which it is run. */
const kernel = [
  { name: 'values', text: readFileSync(new URL('../kernel/values.py', import.meta.url), 'utf8') },
  { name: 'loop', text: readFileSync(new URL('../kernel/loop.py', import.meta.url), 'utf8') },
  { name: 'api', text: readFileSync(new URL('../kernel/api.py', import.meta.url), 'utf8') },
  { name: 'rooms', text: readFileSync(new URL('../kernel/rooms.py', import.meta.url), 'utf8') },
  { name: 'kernel', text: readFileSync(new URL('../kernel/kernel.py', import.meta.url), 'utf8') },
]

/**
 * Modules of Python's own that are made of native code and reach beyond the language: an
 * interpreter that has no table entry of them cannot load them, whatever a script does.
 */
const removed = new Set([
  '_ctypes',
  '_interpreters',
  '_lsprof',
  '_posixsubprocess',
  '_remote_debugging',
  '_sqlite3',
  '_testbuffer',
  '_testcapi',
  '_testclinic',
  '_testclinic_limited',
  '_testinternalcapi',
  '_testlimitedcapi',
  '_xxtestfuzz',
  'faulthandler',
  'fcntl',
  'mmap',
  'termios',
  'xxsubtype',
])

/**
 * Modules of which the kernel has taken functions away, such as `_exit`. A script can have the
 * interpreter make them anew, but what it gets then is empty.
 */
const emptied = ['_PyInit__signal', '_PyInit_posix', '_PyInit_time'] as const

/** Initializes the interpreter, imports what scripts commonly use, and runs the kernel. */
export function boot(machine: Machine): void {
  removeModules(machine)
  machine._Py_InitializeEx(0)
  const sources = JSON.stringify(kernel)
  const text = newText(machine, `${common}\n_run(${JSON.stringify(sources)})`)
  if (machine._PyRun_SimpleStringFlags(text, 0) !== 0) throw new Error('the kernel did not start')
  machine._free(text)
  emptyModules(machine)
  // From here on the interpreter asks for the time every so many steps.
  machine.HEAPU8[machine._Py_EMSCRIPTEN_SIGNAL_HANDLING] = 1
}

const common = `
import abc, array, asyncio, base64, binascii, bisect, calendar, cmath, collections, contextlib
import contextvars, copy, dataclasses, datetime, decimal, enum, fractions, functools, gc, hashlib
import heapq, hmac, importlib, inspect, io, itertools, json, linecache, math, numbers, operator
import random, re, secrets, statistics, string, struct, sys, textwrap, time, traceback, types
import typing, unicodedata, uuid, warnings, weakref, zlib, zoneinfo

def _run(sources):
    package = types.ModuleType("_guildhall")
    package.__path__ = []
    sys.modules["_guildhall"] = package
    for source in json.loads(sources):
        name = "_guildhall." + source["name"]
        module = types.ModuleType(name)
        sys.modules[name] = module
        setattr(package, source["name"], module)
        exec(compile(source["text"], f"<guildhall {source['name']}>", "exec"), module.__dict__)
    gc.collect()
`

/** What a booted memory depends on, beside the package of the engine. */
export const bootText = JSON.stringify([kernel, common, [...removed], emptied])

const entryBytes = 8

/** The table is an array of names and functions, and ends with a name of null. */
function removeModules(machine: Machine): void {
  const { HEAP32, HEAPU8 } = machine
  const word = (at: number) => HEAP32[at >> 2] ?? 0
  let from = word(machine._PyImport_Inittab)
  let to = from
  for (; word(from) !== 0; from += entryBytes) {
    if (removed.has(nameAt(HEAPU8, word(from)))) continue
    HEAP32[to >> 2] = word(from)
    HEAP32[(to + 4) >> 2] = word(from + 4)
    to += entryBytes
  }
  HEAP32[to >> 2] = 0
}

/** Where a `PyModuleDef` has its functions, and what is run to fill a module. */
const [methodsAt, slotsAt] = [32, 36]

/** Modules that have been made keep what they have. */
function emptyModules(machine: Machine): void {
  for (const name of emptied) {
    const definition = machine[name]()
    machine.HEAP32[(definition + methodsAt) >> 2] = 0
    machine.HEAP32[(definition + slotsAt) >> 2] = 0
  }
}

function nameAt(memory: Uint8Array, at: number): string {
  return Buffer.from(memory.subarray(at, memory.indexOf(0, at))).toString('latin1')
}
