import type { ScriptErrorCode } from '@guildhall/contract'
import { createSystemClock } from '../../../../kernel/clock.ts'
import { pooledRandomness } from '../../../../kernel/ids.ts'
import { limits } from '../../../wire/limits.ts'
import { charsMax } from '../../arguments.ts'
import { createPace, type Pace } from '../pace.ts'
import { type Box, loadQuickjsModule, type QuickjsModule, stepsPlace } from './quickjs-module.ts'
import { VmMemory } from './vm-memory.ts'

/** What the guest asks of the host. */
export type VmHost = {
  /** The one function of the host: what it returns the guest gets, a text or nothing. */
  call(op: number, text: string): string | undefined
  ticks(): number
  /** Whether the guest must stop, at a time of its clock. */
  isLate(nowMs: number): boolean
  /** @throws Error that the import raises */
  resolveModule(base: string, name: string): string
  moduleSource(name: string): string
}

/** A value that crosses by itself: everything else is in a text. */
export type Crossing = string | number | Uint8Array | undefined

/** The guest raised what its own code did not catch, was stopped, or has no memory left. */
export class VmException extends Error {
  override readonly name = 'VmException'
  /** What the guest reads as the code of the error. */
  readonly code: ScriptErrorCode | undefined

  constructor(message: string, code?: ScriptErrorCode) {
    super(message)
    this.code = code
  }
}

const scratchBytes = 65_536
const stackBytes = 512 * 1024
const encoder = new TextEncoder()
const clock = createSystemClock()
const randomness = pooledRandomness()

/** One QuickJS in WebAssembly, by its raw functions. */
export class QuickjsVm {
  readonly #host: VmHost
  readonly #exports: QuickjsModule
  readonly #memory: VmMemory
  readonly #scratch: number
  readonly #lengths: number
  readonly #undefined: Box
  readonly #pace: Pace
  readonly #stepsLeftAt: number
  /** What is raised where there is no memory for another error. */
  readonly #noMemory: Box
  /** Rejections that nothing has handled yet, by the address of their promise. */
  readonly #rejections = new Map<number, string>()

  constructor(packageDir: string, memoryBytes: number, host: VmHost) {
    this.#host = host
    this.#pace = createPace({ ...host, clock }, stepsPerLook)
    this.#exports = loadQuickjsModule(packageDir, memoryBytes, this.#imports())
    const vm = this.#exports
    this.#memory = new VmMemory(vm.memory)
    vm._initialize()
    if (vm.qjs_init() !== 0) throw new Error('QuickJS does not start')
    // The first step of all begins the count.
    this.#free(this.evaluate('0', 'first'))
    this.#stepsLeftAt = stepsPlace(vm)
    vm.qjs_set_memory_limit(memoryBytes)
    vm.qjs_set_max_stack_size(stackBytes)
    vm.qjs_set_interrupt_handler(1)
    vm.qjs_set_module_loader(1)
    vm.qjs_set_promise_rejection_handler(1)
    this.#scratch = vm.wasm_malloc(scratchBytes)
    this.#lengths = vm.wasm_malloc(16)
    this.#undefined = vm.qjs_get_undefined()
    this.#noMemory = this.#errorBox(noMemory())
  }

  /** Runs a script; its value stays in a box. */
  evaluate(code: string, name: string): Box {
    const at = this.#copyIn(encoder.encode(`${code}\0`))
    const nameAt = this.#copyIn(encoder.encode(`${name}\0`))
    const box = this.#exports.qjs_eval(at, Buffer.byteLength(code), nameAt, 0)
    this.#exports.wasm_free(at)
    this.#exports.wasm_free(nameAt)
    return this.#checked(box)
  }

  /** The host's function, for the guest's own first code. */
  exposeHost(name: string): void {
    const vm = this.#exports
    const at = this.#copyIn(encoder.encode(`${name}\0`))
    const fn = vm.qjs_new_host_function(at, name.length, 0)
    const global = vm.qjs_get_global()
    vm.qjs_set_prop_string(global, at, fn)
    for (const box of [global, fn]) vm.qjs_free_value(box)
    vm.wasm_free(at)
  }

  member(of: Box, name: string): Box {
    const at = this.#copyIn(encoder.encode(`${name}\0`))
    const found = this.#exports.qjs_get_prop_string(of, at)
    this.#exports.wasm_free(at)
    return this.#checked(found)
  }

  /** Calls a function of the guest. */
  call(fn: Box, args: readonly Crossing[]): Crossing {
    const vm = this.#exports
    const boxes: Box[] = []
    try {
      for (let n = 0; n < args.length; n += 1) boxes[n] = this.#boxOf(args[n])
      this.#setStepsLeft(this.#pace.first())
      // They are taken before anything else is written there.
      this.#memory.setWords(this.#scratch, boxes)
      const result = vm.qjs_call(fn, this.#undefined, boxes.length, this.#scratch)
      return this.#take(this.#checked(result))
    } finally {
      for (let n = 0; n < boxes.length; n += 1) vm.qjs_free_value(boxes[n] ?? 0)
    }
  }

  /** Runs what waits in the queue of jobs. */
  runJobs(): void {
    const vm = this.#exports
    while (vm.qjs_is_job_pending() !== 0) {
      if (vm.qjs_execute_pending_job() < 0) throw this.#exception()
    }
  }

  /** Empties the queue. Once `mustEnd` says so, each job ends at its first step. */
  endJobs(mustEnd: () => boolean): void {
    const vm = this.#exports
    while (vm.qjs_is_job_pending() !== 0) {
      if (mustEnd()) this.#setStepsLeft(this.#pace.soon())
      if (vm.qjs_execute_pending_job() < 0) this.#dropException()
    }
  }

  /** Errors of promises that nothing handles. */
  takeRejections(): string[] {
    const texts = [...this.#rejections.values()]
    this.#rejections.clear()
    return texts
  }

  #imports() {
    return {
      env: {
        host_call: (_name: number, _bytes: number, _self: Box, count: number, args: number) =>
          this.#answer(count, args),
        host_interrupt: () => {
          const steps = this.#pace.next()
          this.#setStepsLeft(Math.max(1, steps))
          return steps === 0 ? 1 : 0
        },
        host_promise_rejection: (promise: Box, reason: Box, handled: number) =>
          this.#noteRejection(promise, reason, handled !== 0),
        host_module_normalize: (base: number, name: number) =>
          this.#raising(() => {
            const found = this.#host.resolveModule(this.#cText(base), this.#cText(name))
            return this.#copyIn(encoder.encode(`${found}\0`))
          }),
        host_module_load: (name: number, lengthAt: number) =>
          this.#raising(() => {
            const source = encoder.encode(`${this.#host.moduleSource(this.#cText(name))}\0`)
            const at = this.#copyIn(source)
            this.#memory.setWord(lengthAt, source.length - 1)
            return at
          }),
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_id: number, _precision: bigint, at: number) => {
          this.#memory.bytes.writeBigUInt64LE(BigInt(clock.nowUnixMs()) * 1_000_000n, at)
          return 0
        },
        fd_write: () => badFile,
        fd_close: () => badFile,
        fd_fdstat_get: () => badFile,
        fd_seek: () => badFile,
        random_get: (at: number, bytes: number) => {
          this.#memory.bytes.set(randomness(bytes), at)
          return 0
        },
      },
    }
  }

  #setStepsLeft(steps: number): void {
    this.#memory.setWord(this.#stepsLeftAt, steps)
  }

  #answer(count: number, args: number): Box {
    return this.#raising(() => {
      if (args === 0) throw noMemory()
      if (count < 2) throw new Error('the host is called with a number and a text')
      const [op, text] = [this.#memory.word(args), this.#memory.word(args + 4)]
      if (op === 0) throw noMemory()
      const answer = this.#host.call(this.#exports.qjs_get_float64(op), this.#text(text))
      this.#setStepsLeft(this.#pace.soon())
      return this.#boxOf(answer)
    })
  }

  /** Nothing may be thrown through the guest: an error is raised inside of it. */
  #raising(work: () => number): number {
    try {
      return work()
    } catch (error) {
      this.#raise(error)
      return 0
    }
  }

  #raise(error: unknown): void {
    const vm = this.#exports
    try {
      const box = this.#errorBox(error)
      this.#free(vm.qjs_throw(box))
      this.#free(box)
    } catch {
      this.#free(vm.qjs_throw(this.#noMemory))
    }
  }

  #errorBox(error: unknown): Box {
    const { message, name } = error instanceof Error ? error : new Error(String(error))
    const isOwn = error instanceof VmException
    const box = this.#checked(this.#exports.qjs_new_error())
    this.#setText(box, 'message', message)
    this.#setText(box, 'name', isOwn ? nameOf(error) : name)
    if (isOwn && error.code !== undefined) this.#setText(box, 'code', error.code)
    return box
  }

  #setText(of: Box, name: string, text: string): void {
    const value = this.#textBox(text)
    const at = this.#copyIn(encoder.encode(`${name}\0`))
    this.#exports.qjs_set_prop_string(of, at, value)
    this.#free(value)
    this.#exports.wasm_free(at)
  }

  #noteRejection(promise: Box, reason: Box, isHandled: boolean): void {
    const key = promise === 0 ? 0 : this.#exports.qjs_get_value_ptr(promise)
    if (isHandled) this.#rejections.delete(key)
    else if (this.#rejections.size < rejectionsMax) this.#rejections.set(key, this.#shown(reason))
    this.#free(promise)
    this.#free(reason)
  }

  #free(box: Box): void {
    if (box !== 0) this.#exports.qjs_free_value(box)
  }

  /** @throws VmException for a box that could not be made, or holds what was raised instead */
  #checked(box: Box): Box {
    if (box === 0) throw noMemory()
    if (this.#exports.qjs_is_exception(box) === 0) return box
    this.#free(box)
    throw this.#exception()
  }

  #exception(): VmException {
    const box = this.#exports.qjs_get_exception()
    const text = this.#shown(box)
    this.#free(box)
    return new VmException(text)
  }

  #dropException(): void {
    this.#free(this.#exports.qjs_get_exception())
  }

  #boxOf(value: Crossing): Box {
    const vm = this.#exports
    switch (typeof value) {
      case 'undefined':
        return this.#checked(vm.qjs_get_undefined())
      case 'number':
        return this.#checked(vm.qjs_new_number(value))
      case 'string':
        return this.#textBox(value)
      default: {
        const at = this.#copyIn(value)
        const box = vm.qjs_new_uint8_array(at, value.length)
        vm.wasm_free(at)
        return this.#checked(box)
      }
    }
  }

  #textBox(value: string): Box {
    const vm = this.#exports
    if (value.length * 3 <= scratchBytes) {
      const written = this.#memory.bytes.write(value, this.#scratch, scratchBytes)
      return this.#checked(vm.qjs_new_string(this.#scratch, written))
    }
    const bytes = encoder.encode(value)
    const at = this.#copyIn(bytes)
    const box = vm.qjs_new_string(at, bytes.length)
    vm.wasm_free(at)
    return this.#checked(box)
  }

  /** What a box holds, which is given back. */
  #take(box: Box): Crossing {
    const vm = this.#exports
    try {
      if (vm.qjs_is_string(box) !== 0) return this.#text(box)
      return vm.qjs_is_undefined(box) !== 0 ? undefined : this.#bytes(box)
    } finally {
      vm.qjs_free_value(box)
    }
  }

  /** @throws VmException before it copies a text that is too large */
  #text(box: Box): string {
    const text = this.#textOf(box, whole)
    if (text === undefined) throw this.#exception()
    return text
  }

  /** What people read of any value: the beginning of a long text is enough. */
  #shown(box: Box): string {
    const text = this.#textOf(box, beginning)
    if (text !== undefined) return text
    this.#dropException()
    return 'a value that is no text'
  }

  /** Undefined where the guest has raised an error instead. */
  #textOf(box: Box, copied: (bytes: number) => number): string | undefined {
    const vm = this.#exports
    const at = box === 0 ? 0 : vm.qjs_get_string_len(box, this.#lengths)
    if (at === 0) return undefined
    try {
      const bytes = copied(this.#memory.word(this.#lengths))
      return this.#memory.bytes.toString('utf8', at, at + bytes)
    } finally {
      vm.qjs_free_cstring(at)
    }
  }

  #bytes(box: Box): Uint8Array {
    const vm = this.#exports
    const at = this.#lengths
    const buffer = this.#checked(vm.qjs_get_typed_array_buffer(box, at, at + 4, at + 8))
    try {
      const length = this.#memory.word(at + 4)
      const data = vm.qjs_get_array_buffer(buffer, at + 12)
      if (data === 0 && length > 0) throw this.#exception()
      const from = data + this.#memory.word(at)
      return new Uint8Array(this.#memory.bytes.subarray(from, from + whole(length)))
    } finally {
      vm.qjs_free_value(buffer)
    }
  }

  #cText(at: number): string {
    const { bytes } = this.#memory
    return bytes.toString('utf8', at, bytes.indexOf(0, at))
  }

  #copyIn(bytes: Uint8Array): number {
    const at = this.#exports.wasm_malloc(Math.max(1, bytes.length))
    if (at === 0) throw noMemory()
    this.#memory.bytes.set(bytes, at)
    return at
  }
}

const rejectionsMax = 100
/** Of slow steps few are too many: `sort` of a long list is one. */
const stepsPerLook = 4
const badFile = 8
/** Of a text on its way out: what cannot be few enough characters is not copied. */
const crossingBytesMax = 3 * charsMax
const shownBytes = 4 * limits.errorTextChars

function noMemory(): VmException {
  return new VmException('out of memory')
}

/** What the guest reads as the name of the error. */
function nameOf({ code }: VmException): string {
  return code === undefined ? 'InternalError' : 'GuildhallError'
}

/** How many bytes of so many are copied. */
function whole(bytes: number): number {
  if (bytes <= crossingBytesMax) return bytes
  throw new VmException('a value is too large', 'invalid_argument')
}

function beginning(bytes: number): number {
  return Math.min(bytes, shownBytes)
}
