import type { Pace } from '../../pace.ts'
import { MarshalReader } from '../values/marshal-reader.ts'
import { MarshalWriter } from '../values/marshal-writer.ts'
import { boot } from './boot.ts'
import type { Machine } from './machine.ts'
import { type MachineHost, startMachine } from './start-machine.ts'
import { newText } from './texts.ts'

/** What the kernel has for the worker to call (see kernel.py). */
const entryPoints = [
  'awake',
  'build',
  'forget',
  'go_off',
  'go_on',
  'load',
  'release',
  'run_handler',
  'run_task',
  'settle',
] as const
export type EntryPoint = (typeof entryPoints)[number]

export type InterpreterOptions = {
  packageDir: string
  /** How much a script may keep, beside what the interpreter itself keeps. */
  memoryMb: number
  /** The memory of one that has booted; absent, this one boots. */
  memory?: Uint8Array | undefined
  /** Asked every so many steps whether what runs is past its time. */
  pace: Pace
  /** What a script asks for. Writes the answer, or nothing for "nothing". Throws nothing. */
  ask(request: MarshalReader, answer: MarshalWriter): void
  /** The interpreter is broken: nothing of it may run any more. */
  crashed(error: unknown): never
}

/**
 * One interpreter of Python. Values cross as bytes in its own memory, one call each way, and no
 * object of JavaScript is ever reachable from inside.
 */
export class Interpreter {
  readonly #machine: Machine
  readonly #options: InterpreterOptions
  readonly #writer = new MarshalWriter()
  readonly #answer = new MarshalWriter()
  readonly #entries = new Map<EntryPoint, number>()
  readonly #interrupted: number
  readonly #thread: number
  readonly #scratch: number
  /** The last answer of an entry point. */
  #held = 0
  #isStruck = false
  #isRunning = false

  /** Starts an interpreter; its first act is to draw new random numbers. */
  static async start(options: InterpreterOptions): Promise<Interpreter> {
    let bytesMax = Number.POSITIVE_INFINITY
    let struck = () => 0
    const host: MachineHost = {
      memoryBytesMax: () => bytesMax,
      checkTime: () => struck(),
    }
    const machine = await startMachine({ ...options, host })
    if (!options.memory) boot(machine)
    const interpreter = new Interpreter(machine, options)
    bytesMax = machine.HEAPU8.length + options.memoryMb * mebibyte
    struck = () => interpreter.#checkTime()
    interpreter.#wake()
    return interpreter
  }

  private constructor(machine: Machine, options: InterpreterOptions) {
    this.#machine = machine
    this.#options = options
    const kernel = this.#named('_guildhall.kernel', machine._PyImport_ImportModule)
    const member = (name: string) => {
      return this.#named(name, (at) => machine._PyObject_GetAttrString(kernel, at))
    }
    for (const name of entryPoints) this.#entries.set(name, member(name))
    this.#interrupted = member('Interrupted')
    this.#thread = machine._PyThread_get_thread_ident()
    this.#scratch = machine._malloc(scratchBytes)
    this.#boundRecursion()
  }

  get files(): Machine['FS'] {
    return this.#machine.FS
  }

  /** A message for an entry point: its arguments follow, `count` of them. */
  begin(count: number): MarshalWriter {
    return this.#writer.start().tuple(count)
  }

  /**
   * Calls an entry point with what has been written.
   *
   * @returns its answer, which holds until the next call; undefined for nothing
   * @throws Error when the entry point itself has failed, such as for want of memory
   */
  call(entry: EntryPoint): MarshalReader | undefined {
    const machine = this.#machine
    let result = 0
    this.#isRunning = true
    this.#setStepsLeft(this.#options.pace.first())
    try {
      this.#drop()
      const args = this.#read(this.#writer)
      if (args !== 0) {
        result = machine._PyObject_Call(this.#entries.get(entry) ?? 0, args, 0)
        machine._Py_DecRef(args)
      }
      if (this.#isStruck) this.#disarm()
      else if (result === 0) machine._PyErr_Print()
    } catch (error) {
      this.#options.crashed(error)
    }
    if (result === 0 && !this.#isStruck) throw new Error('out of memory')
    if (result === 0) return undefined
    this.#held = result
    return result === machine.__Py_NoneStruct ? undefined : this.#readerOf(result)
  }

  /** Whether the last call went past its time. Asked once. */
  takeStruck(): boolean {
    const isStruck = this.#isStruck
    this.#isStruck = false
    return isStruck
  }

  /** Frees the last answer. */
  #drop(): void {
    if (this.#held !== 0) this.#machine._Py_DecRef(this.#held)
    this.#held = 0
  }

  /**
   * The interpreter measures its recursion by its own stack, which is in its memory. Deep recursion
   * of C uses up the stack of the process sooner, and that cannot be mended: so less of its own has
   * to do.
   */
  #boundRecursion(): void {
    const machine = this.#machine
    const from = machine._emscripten_stack_get_current() - recursionBytes
    const thread = machine._PyThreadState_Get()
    machine._PyUnstable_ThreadState_SetStackProtection(thread, from, recursionBytes)
  }

  /** Hands the kernel its one way out: a function of bytes that returns what was asked for. */
  #wake(): void {
    const machine = this.#machine
    const definition = machine._malloc(definitionBytes)
    const name = newText(machine, 'host')
    const ask = machine.addFunction((_self = 0, request = 0) => this.#asked(request), 'iii')
    machine.HEAP32.set([name, ask, takesOne, 0], definition >> 2)
    const host = machine._PyCMethod_New(definition, 0, 0, 0)
    const awake = this.#entries.get('awake') ?? 0
    if (machine._PyObject_CallOneArg(awake, host) !== 0) return
    machine._PyErr_Print()
    throw new Error('the interpreter does not wake up')
  }

  #asked(request: number): number {
    const answer = this.#answer.start()
    this.#options.ask(this.#readerOf(request), answer)
    if (answer.written.length > 0) return this.#read(answer)
    this.#machine._Py_IncRef(this.#machine.__Py_NoneStruct)
    return this.#machine.__Py_NoneStruct
  }

  /**
   * Looks at the time, every so many steps of the interpreter. Past it an error is raised at the
   * next step, whatever handlers of signals there are, and again at every step: code that catches
   * it gets nowhere.
   */
  #checkTime(): number {
    if (!this.#isRunning) return 0
    const steps = this.#isStruck ? 0 : this.#options.pace.next()
    this.#setStepsLeft(steps)
    if (steps > 0) return 0
    const machine = this.#machine
    this.#isStruck = true
    machine._PyThreadState_SetAsyncExc(this.#thread, this.#interrupted)
    // Long operations of one step, such as the search of a pattern, look for signals only.
    return interruptSignal
  }

  #setStepsLeft(steps: number): void {
    const { HEAP32, __Py_emscripten_signal_clock: at } = this.#machine
    HEAP32[at >> 2] = steps
  }

  /** What was to be raised at the next step must not meet the next call. */
  #disarm(): void {
    const machine = this.#machine
    this.#isRunning = false
    machine._PyErr_Clear()
    machine._PyThreadState_SetAsyncExc(this.#thread, 0)
    if (machine._PyErr_CheckSignals() !== 0) machine._PyErr_Clear()
  }

  /** An object of what was written; 0 with an error of the interpreter, such as no memory. */
  #read({ written }: MarshalWriter): number {
    const machine = this.#machine
    const isLarge = written.length > scratchBytes
    const at = isLarge ? machine._malloc(written.length) : this.#scratch
    if (at === 0) return machine._PyErr_NoMemory()
    machine.HEAPU8.set(written, at)
    const object = machine._PyMarshal_ReadObjectFromString(at, written.length)
    if (isLarge) machine._free(at)
    return object
  }

  #readerOf(bytes: number): MarshalReader {
    const machine = this.#machine
    const at = machine._PyBytes_AsString(bytes)
    if (at !== 0) return new MarshalReader(machine.HEAPU8, at >>> 0, machine._PyBytes_Size(bytes))
    machine._PyErr_Clear()
    return new MarshalReader(machine.HEAPU8, 0, 0)
  }

  #named(name: string, ask: (at: number) => number): number {
    const at = newText(this.#machine, name)
    const found = ask(at)
    this.#machine._free(at)
    if (found === 0) throw new Error(`the interpreter has no ${name}`)
    return found
  }
}

const mebibyte = 1_048_576
const scratchBytes = 65_536
const recursionBytes = 131_072
/** A `PyMethodDef`: name, function, flags, documentation. */
const definitionBytes = 16
/** METH_O: the function takes one argument. */
const takesOne = 8
const interruptSignal = 2

/** The memory of an interpreter that has booted. */
export async function bootedMemory(packageDir: string): Promise<Uint8Array> {
  const host = { memoryBytesMax: () => Number.POSITIVE_INFINITY, checkTime: () => 0 }
  const machine = await startMachine({ packageDir, host })
  boot(machine)
  return machine.HEAPU8
}
