import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '../../../../kernel/clock.ts'
import { pooledRandomness } from '../../../../kernel/ids.ts'

/** A value of the guest, by the address of its box. */
export type Box = number

/** The C functions of quickjs-wasi that are used here. */
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  _initialize(): void
  wasm_malloc(bytes: number): number
  wasm_free(address: number): void
  qjs_init(): number
  qjs_set_memory_limit(bytes: number): void
  qjs_set_max_stack_size(bytes: number): void
  qjs_set_interrupt_handler(on: number): void
  qjs_set_module_loader(on: number): void
  qjs_set_promise_rejection_handler(on: number): void
  qjs_eval(code: number, bytes: number, name: number, flags: number): Box
  qjs_call(fn: Box, self: Box, count: number, args: number): Box
  qjs_new_host_function(name: number, bytes: number, more: number): Box
  qjs_get_prop_string(of: Box, name: number): Box
  qjs_set_prop_string(of: Box, name: number, value: Box): void
  qjs_get_global(): Box
  qjs_get_undefined(): Box
  qjs_new_number(value: number): Box
  qjs_new_string(text: number, bytes: number): Box
  qjs_new_uint8_array(from: number, bytes: number): Box
  qjs_get_float64(box: Box): number
  qjs_get_string_len(box: Box, bytes: number): number
  qjs_free_cstring(text: number): void
  qjs_is_exception(box: Box): number
  qjs_is_string(box: Box): number
  qjs_is_undefined(box: Box): number
  qjs_get_typed_array_buffer(box: Box, offset: number, length: number, element: number): Box
  qjs_get_array_buffer(box: Box, bytes: number): number
  qjs_get_exception(): Box
  qjs_get_value_ptr(box: Box): number
  qjs_new_error(): Box
  qjs_throw(error: Box): void
  qjs_free_value(box: Box): void
  qjs_is_job_pending(): number
  qjs_execute_pending_job(): number
  qjs_get_context_ptr(): number
}

/** What the guest asks of the host. */
export type VmHost = {
  /** The one function of the host: what it returns the guest gets, a text or nothing. */
  call(op: number, text: string): string | undefined
  /** Looked at every so many steps. */
  mustStop(): boolean
  /** @throws Error that the import raises */
  resolveModule(base: string, name: string): string
  moduleSource(name: string): string
}

/** A value that crosses by itself: everything else is in a text. */
export type Crossing = string | number | Uint8Array | undefined

/** The guest raised what its own code did not catch, or was stopped. */
export class VmException extends Error {
  override readonly name = 'VmException'
}

const scratchBytes = 65_536
const stackBytes = 512 * 1024
const encoder = new TextEncoder()
const clock = createSystemClock()
const randomness = pooledRandomness()

/** One QuickJS in WebAssembly, by its raw functions. */
export class QuickjsVm {
  readonly #host: VmHost
  readonly #exports: Exports
  readonly #scratch: number
  readonly #lengths: number
  /** Rejections that nothing has handled yet, by the address of their promise. */
  readonly #rejections = new Map<number, string>()

  static create(packageDir: string, memoryBytes: number, host: VmHost): QuickjsVm {
    const module = compile(readFileSync(join(packageDir, 'quickjs.wasm')))
    return new QuickjsVm(module, memoryBytes, host)
  }

  constructor(module: object, memoryBytes: number, host: VmHost) {
    this.#host = host
    this.#exports = instantiate(module, this.#imports())
    const vm = this.#exports
    vm._initialize()
    if (vm.qjs_init() !== 0) throw new Error('QuickJS does not start')
    vm.qjs_set_memory_limit(memoryBytes)
    vm.qjs_set_max_stack_size(stackBytes)
    vm.qjs_set_interrupt_handler(1)
    vm.qjs_set_module_loader(1)
    vm.qjs_set_promise_rejection_handler(1)
    this.#scratch = vm.wasm_malloc(scratchBytes)
    this.#lengths = vm.wasm_malloc(16)
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
    return found
  }

  /** Calls a function of the guest. */
  call(fn: Box, args: readonly Crossing[]): Crossing {
    const vm = this.#exports
    const boxes: Box[] = []
    for (let n = 0; n < args.length; n += 1) boxes[n] = this.#boxOf(args[n])
    const at = vm.wasm_malloc(boxes.length * 4)
    new Uint32Array(vm.memory.buffer, at, boxes.length).set(boxes)
    const self = vm.qjs_get_undefined()
    const result = vm.qjs_call(fn, self, boxes.length, at)
    vm.wasm_free(at)
    for (let n = 0; n < boxes.length; n += 1) vm.qjs_free_value(boxes[n] ?? 0)
    return this.#take(this.#checked(result))
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
    const counterAt = vm.qjs_get_context_ptr() + stepsLeftAt
    while (vm.qjs_is_job_pending() !== 0) {
      if (mustEnd()) new Int32Array(vm.memory.buffer, counterAt, 1)[0] = 1
      if (vm.qjs_execute_pending_job() < 0) vm.qjs_free_value(vm.qjs_get_exception())
    }
  }

  /** Errors of promises that nothing handles. */
  takeRejections(): string[] {
    const texts = [...this.#rejections.values()]
    this.#rejections.clear()
    return texts
  }

  #imports() {
    const memory = () => new DataView(this.#exports.memory.buffer)
    return {
      env: {
        host_call: (_name: number, _bytes: number, _self: Box, count: number, args: number) =>
          this.#answer(count, args),
        host_interrupt: () => (this.#host.mustStop() ? 1 : 0),
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
            memory().setUint32(lengthAt, source.length - 1, true)
            return at
          }),
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_id: number, _precision: bigint, at: number) => {
          memory().setBigUint64(at, BigInt(clock.nowUnixMs()) * 1_000_000n, true)
          return 0
        },
        fd_write: () => badFile,
        fd_close: () => badFile,
        fd_fdstat_get: () => badFile,
        fd_seek: () => badFile,
        random_get: (at: number, bytes: number) => {
          new Uint8Array(this.#exports.memory.buffer).set(randomness(bytes), at)
          return 0
        },
      },
    }
  }

  #answer(count: number, args: number): Box {
    return this.#raising(() => {
      const { memory, qjs_get_float64 } = this.#exports
      if (count < 2) throw new Error('the host is called with a number and a text')
      const [op = 0, text = 0] = new Uint32Array(memory.buffer, args, 2)
      return this.#boxOf(this.#host.call(qjs_get_float64(op), this.#text(text)))
    })
  }

  #raising(work: () => number): number {
    const vm = this.#exports
    try {
      return work()
    } catch (error) {
      const { message, name } = error instanceof Error ? error : new Error(String(error))
      const box = vm.qjs_new_error()
      this.#setText(box, 'message', message)
      this.#setText(box, 'name', name)
      vm.qjs_throw(box)
      vm.qjs_free_value(box)
      return 0
    }
  }

  #setText(of: Box, name: string, text: string): void {
    const value = this.#textBox(text)
    const at = this.#copyIn(encoder.encode(`${name}\0`))
    this.#exports.qjs_set_prop_string(of, at, value)
    this.#exports.qjs_free_value(value)
    this.#exports.wasm_free(at)
  }

  #noteRejection(promise: Box, reason: Box, isHandled: boolean): void {
    const vm = this.#exports
    const key = vm.qjs_get_value_ptr(promise)
    if (isHandled) this.#rejections.delete(key)
    else if (this.#rejections.size < rejectionsMax) this.#rejections.set(key, this.#text(reason))
    vm.qjs_free_value(promise)
    vm.qjs_free_value(reason)
  }

  #checked(box: Box): Box {
    if (this.#exports.qjs_is_exception(box) === 0) return box
    this.#exports.qjs_free_value(box)
    throw this.#exception()
  }

  #exception(): VmException {
    const box = this.#exports.qjs_get_exception()
    const text = this.#text(box)
    this.#exports.qjs_free_value(box)
    return new VmException(text)
  }

  #boxOf(value: Crossing): Box {
    const vm = this.#exports
    switch (typeof value) {
      case 'undefined':
        return vm.qjs_get_undefined()
      case 'number':
        return vm.qjs_new_number(value)
      case 'string':
        return this.#textBox(value)
      default: {
        const at = this.#copyIn(value)
        const box = vm.qjs_new_uint8_array(at, value.length)
        vm.wasm_free(at)
        return box
      }
    }
  }

  #textBox(value: string): Box {
    const vm = this.#exports
    if (value.length * 3 <= scratchBytes) {
      const space = new Uint8Array(vm.memory.buffer, this.#scratch, scratchBytes)
      return vm.qjs_new_string(this.#scratch, encoder.encodeInto(value, space).written)
    }
    const bytes = encoder.encode(value)
    const at = this.#copyIn(bytes)
    const box = vm.qjs_new_string(at, bytes.length)
    vm.wasm_free(at)
    return box
  }

  /** What a box holds, which is given back. */
  #take(box: Box): Crossing {
    const vm = this.#exports
    const isText = vm.qjs_is_string(box) !== 0
    const isNothing = !isText && vm.qjs_is_undefined(box) !== 0
    const value = isText ? this.#text(box) : isNothing ? undefined : this.#bytes(box)
    vm.qjs_free_value(box)
    return value
  }

  #text(box: Box): string {
    const vm = this.#exports
    const at = vm.qjs_get_string_len(box, this.#lengths)
    if (at === 0) return 'a value that is no text'
    const [bytes = 0] = new Uint32Array(vm.memory.buffer, this.#lengths, 1)
    const text = Buffer.from(vm.memory.buffer, at, bytes).toString('utf8')
    vm.qjs_free_cstring(at)
    return text
  }

  #bytes(box: Box): Uint8Array {
    const vm = this.#exports
    const at = this.#lengths
    const buffer = vm.qjs_get_typed_array_buffer(box, at, at + 4, at + 8)
    const [offset = 0, length = 0] = new Uint32Array(vm.memory.buffer, at, 2)
    const data = vm.qjs_get_array_buffer(buffer, at + 12)
    const bytes = new Uint8Array(vm.memory.buffer.slice(data + offset, data + offset + length))
    vm.qjs_free_value(buffer)
    return bytes
  }

  #cText(at: number): string {
    const bytes = Buffer.from(this.#exports.memory.buffer, at)
    return bytes.toString('utf8', 0, bytes.indexOf(0))
  }

  #copyIn(bytes: Uint8Array): number {
    const at = this.#exports.wasm_malloc(Math.max(1, bytes.length))
    if (at === 0) throw new VmException('out of memory')
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at)
    return at
  }
}

const rejectionsMax = 100
/** In QuickJS's context: how many steps it makes before it asks whether it must stop. */
const stepsLeftAt = 292
const badFile = 8

/** What is used here of WebAssembly, whose types come with those of browsers. */
type WebAssemblyOfHost = {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: Exports }
}

const webAssembly: WebAssemblyOfHost = Reflect.get(globalThis, 'WebAssembly')

function compile(bytes: Uint8Array): object {
  return new webAssembly.Module(bytes)
}

function instantiate(module: object, imports: object): Exports {
  return new webAssembly.Instance(module, imports).exports
}
