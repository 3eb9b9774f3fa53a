import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A value of the guest, by the address of its box; 0 where there was no memory for one. */
export type Box = number

/** The C functions of quickjs-wasi that are used here. */
export type QuickjsModule = {
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
  qjs_throw(error: Box): Box
  qjs_free_value(box: Box): void
  qjs_is_job_pending(): number
  qjs_execute_pending_job(): number
  qjs_get_context_ptr(): number
}

/** Starts the module. Its memory never grows by more than the script may have. */
export function loadQuickjsModule(
  packageDir: string,
  memoryBytes: number,
  imports: object,
): QuickjsModule {
  const bytes = readFileSync(join(packageDir, 'quickjs.wasm'))
  const module = new webAssembly.Module(boundMemory(bytes, Math.ceil(memoryBytes / pageBytes)))
  return new webAssembly.Instance(module, imports).exports
}

/**
 * Where it says how many steps it makes before it asks whether it must stop. Another build of
 * QuickJS may have that elsewhere.
 */
export function stepsPlace(vm: QuickjsModule): number {
  const at = vm.qjs_get_context_ptr() + stepsLeftAt
  const [found] = new Int32Array(vm.memory.buffer, at, 1)
  if (found === stepsAtFirst) return at
  throw new Error('QuickJS does not count its steps where they are expected: another build?')
}

/** In the context. */
const stepsLeftAt = 292
/** What stands there once the first code has run. */
const stepsAtFirst = 10_000

/**
 * The module with a bound of its memory, which it makes itself and leaves open. The engine counts
 * what scripts allocate, but neither what the host allocates nor what lies unused in between. Where
 * memory ends, the engine raises an error that the script may catch.
 *
 * @param growth pages beside those that it begins with
 */
function boundMemory(module: Uint8Array, growth: number): Uint8Array {
  const section = memorySectionOf(module)
  const [memories, flags] = module.subarray(section.from)
  if (memories !== 1 || flags !== 0) throw new Error('QuickJS has another memory than expected')
  const [least] = readNumber(module, section.from + 2)
  const most = Math.min(least + growth, pagesMax)
  const content = [1, hasMost, ...writtenNumber(least), ...writtenNumber(most)]
  return Buffer.concat([
    module.subarray(0, section.begin),
    Uint8Array.from([memorySection, ...writtenNumber(content.length), ...content]),
    module.subarray(section.end),
  ])
}

type Section = { readonly begin: number; readonly from: number; readonly end: number }

function memorySectionOf(module: Uint8Array): Section {
  for (let begin = headerBytes; begin < module.length; ) {
    const [length, from] = readNumber(module, begin + 1)
    const end = from + length
    if (module[begin] === memorySection) return { begin, from, end }
    begin = end
  }
  throw new Error('QuickJS has no memory of its own')
}

/** A number as modules have it, seven bits at a time, and where what follows begins. */
function readNumber(module: Uint8Array, from: number): [value: number, end: number] {
  let value = 0
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = module[at] ?? 0
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return [value, at + 1]
  }
}

function writtenNumber(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...writtenNumber(value >>> 7)]
}

const pageBytes = 65_536
/** All that 32 bits can address. */
const pagesMax = 65_536
const headerBytes = 8
const memorySection = 5
/** The flag of a memory that says how far it grows. */
const hasMost = 1

/** What is used here of WebAssembly, whose types come with those of browsers. */
type WebAssemblyOfHost = {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object, imports: object) => { readonly exports: QuickjsModule }
}

const webAssembly: WebAssemblyOfHost = Reflect.get(globalThis, 'WebAssembly')
