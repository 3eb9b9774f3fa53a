/**
 * What the interpreter may ask of its host. A WebAssembly module reaches nothing but its imports:
 * whatever a script makes of the interpreter, these are all there is. The system calls among them
 * work on a folder in memory, which holds the library of Python and the files of the script.
 *
 * Not among them: the bridge to objects of JavaScript, `system`, sockets, loading of native code,
 * signals, and everything that writes to the folder.
 */
const allowed: ReadonlySet<string> = new Set([
  // Time and chance.
  'clock_res_get',
  'clock_time_get',
  'emscripten_date_now',
  'emscripten_get_now',
  'random_get',
  '_gmtime_js',
  '_localtime_js',
  '_mktime_js',
  '_timegm_js',
  '_tzset_js',
  // What the interpreter reads of itself; the environment is the one that it is started with.
  '_PyEM_TrampolineCall_JS',
  '_Py_emscripten_runtime',
  '__hiwire_deduplicate_new',
  '_emscripten_get_progname',
  'emscripten_get_heap_max',
  'environ_get',
  'environ_sizes_get',
  // Reading files.
  '__syscall_faccessat',
  '__syscall_fcntl64',
  '__syscall_fstat64',
  '__syscall_getcwd',
  '__syscall_getdents64',
  '__syscall_ioctl',
  '__syscall_lstat64',
  '__syscall_newfstatat',
  '__syscall_readlinkat',
  '__syscall_stat64',
  'fd_close',
  'fd_fdstat_get',
  'fd_pread',
  'fd_read',
  'fd_seek',
])

type ImportFunction = ((...args: number[]) => unknown) & { sig?: string }

/** The imports of the interpreter by their names, as the package of the engine fills them. */
export type Imports = Record<string, unknown>

export type HostImports = {
  /** Looks whether the code that runs is past its time; the number of a signal, or 0. */
  checkTime(): number
  /** How many bytes the memory may have at most. */
  memoryBytesMax(): number
  /** Makes the memory larger; false where it cannot. */
  growMemory(bytes: number): boolean
  memoryBytes(): number
  /** Prints bytes of the memory. */
  print(to: 'stdout' | 'stderr', at: number, bytes: number): void
  /** A number of 32 bits in the memory. */
  word(at: number): number
  setWord(at: number, value: number): void
}

const writingFlags = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000
const readOnly = -69
const outputs: Readonly<Record<number, 'stdout' | 'stderr'>> = { 1: 'stdout', 2: 'stderr' }
const notSupported = -52
const pageBytes = 65_536
const vectorBytes = 8

/** Replaces what the interpreter may not ask, and what it gets from this host. */
export function restrictImports(imports: Imports, host: HostImports): void {
  const own: Record<string, (...args: number[]) => unknown> = {
    _Py_CheckEmscriptenSignals_Helper: host.checkTime,
    emscripten_resize_heap: (wanted) => resize(host, (wanted ?? 0) >>> 0),
    fd_write: (fd = 0, vectors = 0, count = 0, written = 0) => {
      const to = outputs[fd]
      return to ? printAll(host, to, { vectors, count, written }) : -readOnly
    },
    // Constants of the bridge, which has none here.
    Jsv_GetError_import: () => null,
    JsvError_Check: () => 0,
  }
  const { __syscall_openat: open } = imports
  if (isFunction(open)) {
    own.__syscall_openat = (folder, path, flags = 0, mode) =>
      (flags & writingFlags) === 0 ? open(folder ?? 0, path ?? 0, flags, mode ?? 0) : readOnly
  }
  for (const [name, value] of Object.entries(imports)) {
    if (!isFunction(value)) continue
    const replaced = own[name] ?? (allowed.has(name) ? undefined : refuse(name))
    if (replaced) imports[name] = Object.assign(replaced, { sig: value.sig })
  }
}

/** What ordinary code of Python can ask for, and the answers that there is no such thing. */
const answers: Readonly<Record<string, number | null>> = {
  _emscripten_system: notSupported,
  _mmap_js: notSupported,
  _msync_js: notSupported,
  _munmap_js: notSupported,
  _setitimer_js: notSupported,
  _dlopen_js: 0,
  _dlsym_js: 0,
  _emscripten_dlopen_js: 0,
  _emscripten_lookup_name: 0,
  _maybe_connect_async: null,
  _maybe_poll_async: null,
  _maybe_recvfrom_async: null,
  _maybe_sendto_async: null,
  _try_fcntl64: 0,
  _try_shutdown: 0,
  getaddrinfo: -4,
  getnameinfo: -4,
  getprotobyname: 0,
}

/** Code that asks for anything else has broken out of the language, and ends the process. */
function refuse(name: string): ImportFunction {
  const answer = answers[name]
  if (answer !== undefined) return () => answer
  if (name.startsWith('__syscall')) return () => notSupported
  if (name.startsWith('fd_')) return () => -notSupported
  return () => {
    throw new RangeError(`the interpreter may not ask for ${name}`)
  }
}

type Vectors = { vectors: number; count: number; written: number }

/** Each vector is an address and a number of bytes. */
function printAll(host: HostImports, to: 'stdout' | 'stderr', at: Vectors): number {
  let total = 0
  for (let n = 0; n < at.count; n += 1) {
    const bytes = host.word(at.vectors + vectorBytes * n + 4)
    host.print(to, host.word(at.vectors + vectorBytes * n), bytes)
    total += bytes
  }
  host.setWord(at.written, total)
  return 0
}

function resize(host: HostImports, wanted: number): number {
  const most = host.memoryBytesMax()
  if (wanted > most) return 0
  // More than asked for: each time costs a collection, and what is not used occupies nothing.
  const generous = Math.min(most, Math.max(wanted, host.memoryBytes() * 1.5))
  const bytes = Math.ceil(generous / pageBytes) * pageBytes
  return host.growMemory(bytes) ? 1 : 0
}

function isFunction(value: unknown): value is ImportFunction {
  return typeof value === 'function'
}
