import type { ErrorPlace } from '../../errors.ts'
import { FailSignal, GuildhallError, Interrupted, invalidArgument } from '../../errors.ts'
import { expectHostCall, type StoppableCall } from '../../host-calls.ts'
import type { Invocation } from '../../invocation.ts'
import { replyRefusal, said } from '../../unfit-value.ts'
import type { Engine, EngineDeps, Script } from '../engine.ts'
import { createGuest, type Guest } from '../guest.ts'
import { createPace } from '../pace.ts'
import { readImage } from './interpreter/image.ts'
import { type EntryPoint, Interpreter } from './interpreter/interpreter.ts'
import { describePythonError, PythonError, placeOf } from './python-error.ts'
import { placeFiles } from './script-files.ts'
import type { MarshalReader } from './values/marshal-reader.ts'
import type { MarshalWriter } from './values/marshal-writer.ts'
import { type ArgumentForms, createVocabulary, type Entry, writeArgument } from './vocabulary.ts'

/** Runs Python in an interpreter in WebAssembly, which reaches no more than `guildhall`. */
export async function createPythonEngine(deps: EngineDeps): Promise<Engine> {
  const engine = new PythonEngine(deps)
  await engine.start()
  return engine
}

/** One execution of a handler, by the number that the interpreter knows it by. */
type Run = {
  readonly number: number
  /** Undefined where what runs belongs to no handler. */
  readonly invocation: Invocation | undefined
}

/** A handler that waits, with the promise that it has returned. */
type Waiting = { readonly run: Run; readonly settle: PromiseWithResolvers<unknown> }

/** As kernel.py has them. */
const answer = { ok: 0, failed: 1, pending: 2, called: 3 } as const
const request = { wake: -1, timer: -2, revision: -3, stop: -4 } as const

const runsMax = 2 ** 31
/** Of slow steps few are too many: `sorted` of a long list is one. */
const stepsPerLook = 8
const noRun: Run = { number: 0, invocation: undefined }

class PythonEngine implements Engine {
  readonly guard: Engine['guard']
  readonly scope: Engine['scope']
  readonly #deps: EngineDeps
  readonly #guest: Guest
  readonly #waiting = new Map<Invocation, Waiting>()
  /** The runs that wait, by their number. */
  readonly #runs = new Map<number, Run>()
  readonly #released = new FinalizationRegistry<number>((task) => this.#release(task))
  #interpreter: Interpreter | undefined
  #entries: readonly Entry[] = []
  #revision = () => ''
  #stoppable: StoppableCall | undefined
  #lastRun = 0
  #lastCall = 0
  /** Whose code computes. */
  #running = noRun

  constructor(deps: EngineDeps) {
    this.#deps = deps
    this.#guest = createGuest(deps.clock)
    this.guard = this.#guest.guard
    this.scope = this.#guest.scope
  }

  async start(): Promise<void> {
    const { settings, clock, ticks } = this.#deps
    const { packageDir, memoryMb, imageFile } = settings
    this.#interpreter = await Interpreter.start({
      packageDir,
      memoryMb,
      memory: readImage(imageFile),
      pace: createPace({ clock, ticks, isLate: this.#guest.isLate }, stepsPerLook),
      ask: (asked, written) => this.#ask(asked, written),
      crashed: (error) => this.#crash(error),
    })
  }

  async load({ entry, files = [], surface }: Script): Promise<void> {
    const vocabulary = createVocabulary(surface)
    const { node_id, tier, generation, revision_id } = surface.identity
    this.#entries = vocabulary.entries
    this.#revision = revision_id
    this.#stoppable = surface.stoppable
    placeFiles(this.#python, files)
    this.#python
      .begin(4)
      .value({ node_id, tier, generation })
      .value(vocabulary.functions)
      .value(vocabulary.hooks)
      .value(vocabulary.rooms)
    this.#ended(this.#python.call('build'), noRun)
    this.#python
      .begin(2)
      .value(entry.replace(/\.py$/, ''))
      .value(files.map(({ path }) => path))
    this.#ended(this.#python.call('load'), noRun)
  }

  problemOf(error: unknown): ErrorPlace {
    return describePythonError(error)
  }

  describe(error: unknown): ErrorPlace {
    return describePythonError(error)
  }

  /** What it has left to do at its end it does now, and its functions raise `timeout`. */
  forget(invocation: Invocation): void {
    const waiting = this.#waiting.get(invocation)
    if (!waiting) return
    this.#waiting.delete(invocation)
    this.#runs.delete(waiting.run.number)
    this.#forget(waiting.run, invocation)
  }

  /** The memory of the interpreter has a bound of its own. */
  checkMemory(): void {}

  get #python(): Interpreter {
    if (!this.#interpreter) throw new Error('the interpreter has not started')
    return this.#interpreter
  }

  #crash(error: unknown): never {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    process.stderr.write(`the interpreter of Python is broken: ${text.slice(0, 500)}\n`)
    this.#deps.exit(1)
    throw new Interrupted()
  }

  /** The first slice of a handler, or of a task of a timer. */
  #begin(entry: EntryPoint, number: number, args?: Arguments): unknown {
    this.#lastRun = (this.#lastRun + 1) % runsMax
    const run: Run = { number: this.#lastRun, invocation: this.scope.current() }
    const count = args?.values.length ?? 0
    const writer = this.#python
      .begin(2 + count)
      .int(run.number)
      .int(number)
    for (let n = 0; n < count; n += 1) writeArgument(writer, args?.values[n], args?.forms[n])
    this.#running = run
    return this.#ended(this.#python.call(entry), run)
  }

  /** What a first slice has come to: the handler's value, or a promise of it. */
  #ended(reader: MarshalReader | undefined, run: Run): unknown {
    if (this.#python.takeStruck()) throw this.#interrupted(run)
    if (!reader) return undefined
    const items = reader.tuple()
    const kind = reader.value()
    if (kind === answer.pending) return this.#suspend(run)
    if (kind === answer.failed) throw failureOf(reader, items - 1)
    return replyIn(reader)
  }

  #suspend(run: Run): unknown {
    const settle = Promise.withResolvers<unknown>()
    if (run.invocation) this.#waiting.set(run.invocation, { run, settle })
    this.#runs.set(run.number, run)
    return settle.promise
  }

  /** A later slice: `write` begins the message for `entry`. */
  #goOn(run: Run, entry: EntryPoint, write: (python: Interpreter) => void): void {
    this.#deps.resume(run.invocation, () => {
      write(this.#python)
      this.#running = run
      const reader = this.#python.call(entry)
      if (this.#python.takeStruck()) throw this.#interrupted(run)
      if (reader) this.#finish(run, reader)
    })
  }

  /** The handler has ended with this slice. */
  #finish(run: Run, reader: MarshalReader): void {
    const waiting = run.invocation && this.#waiting.get(run.invocation)
    if (run.invocation) this.#waiting.delete(run.invocation)
    this.#runs.delete(run.number)
    const items = reader.tuple()
    if (reader.value() === answer.failed) throw failureOf(reader, items - 1)
    waiting?.settle.resolve(replyIn(reader))
  }

  #interrupted(run: Run): Interrupted {
    const { invocation } = run
    if (invocation) this.#waiting.delete(invocation)
    this.#runs.delete(run.number)
    // When the runner knows that the invocation is over.
    if (invocation) queueMicrotask(() => this.#forget(run, invocation))
    return new Interrupted()
  }

  #forget(run: Run, invocation: Invocation): void {
    const close = () => {
      this.#running = run
      this.#python.begin(1).int(run.number)
      this.#python.call('forget')
      this.#python.takeStruck()
    }
    this.scope.run(invocation, close, undefined, undefined)
  }

  /** With the task go objects of the script, which may have finalizers. */
  #release(task: number): void {
    this.#goOn(noRun, 'release', (python) => python.begin(1).int(task))
  }

  /** A request of the script. It throws nothing: an error is an answer. */
  #ask(asked: MarshalReader, written: MarshalWriter): void {
    try {
      const items = asked.tuple()
      const number = asked.value()
      const entry = typeof number === 'number' ? this.#entries[number] : undefined
      if (entry) this.#call(entry, { asked, count: items - 1 }, written)
      else this.#askOwn(number, asked, written)
    } catch (error) {
      writeRefusal(written.start(), error)
    }
  }

  #askOwn(number: unknown, asked: MarshalReader, written: MarshalWriter): void {
    const first = number === request.revision ? 0 : asked.value()
    if (typeof first !== 'number') throw invalidArgument('there is no such function')
    if (number === request.wake) {
      const run = this.#runOf(first)
      queueMicrotask(() => this.#goOn(run, 'go_on', (python) => python.begin(1).int(first)))
    } else if (number === request.timer) this.#startTimer(first, asked.value(), asked.value())
    else if (number === request.stop) this.#stoppable?.stop(first)
    else if (number === request.revision) written.tuple(2).int(answer.ok).value(this.#revision())
    else throw invalidArgument('there is no such function')
  }

  /** The event loop of the script has no timers of its own: `sleep` is one of them. */
  #startTimer(number: number, ms: unknown, timer: unknown): void {
    const sleep = this.#entries.find(({ name }) => name === 'sleep')
    const run = this.#runOf(number)
    const current = this.scope.current()
    if (current) expectHostCall(current)
    Promise.resolve(sleep?.fn(ms)).then(
      () => this.#goOn(run, 'go_off', (python) => python.begin(2).int(number).value(timer)),
      (error: unknown) => process.stderr.write(`asyncio: a timer is not kept: ${error}\n`),
    )
  }

  /** A run that waits or computes; what is left of another belongs to no handler. */
  #runOf(number: number): Run {
    return this.#runs.get(number) ?? (this.#running.number === number ? this.#running : noRun)
  }

  #call(entry: Entry, { asked, count }: Asked, written: MarshalWriter): void {
    const args: unknown[] = []
    try {
      for (let n = 0; n < count; n += 1) args.push(asked.value())
    } catch (error) {
      const text = said(error, nameAt(entry, args.length)) ?? 'an argument cannot be read'
      throw invalidArgument(`${entry.name}: ${text}`)
    }
    if (entry.kind === 'hook') this.#register(entry.args, args)
    else if (entry.kind === 'room') this.#takeOfRoom(entry.name, args)
    else if (typeof args[entry.taskAt] === 'number') {
      args[entry.taskAt] = this.#task(Number(args[entry.taskAt]))
    }
    const before = this.#stoppable?.last
    const result = entry.fn(...args)
    const last = this.#stoppable?.last ?? 0
    if (result instanceof Promise) this.#wait(result, last === before ? 0 : last, written)
    else if (result !== undefined) written.tuple(2).int(answer.ok).value(result)
  }

  /** The last argument is the number of a handler. */
  #register(forms: ArgumentForms, args: unknown[]): void {
    const number = args.pop()
    if (typeof number !== 'number') return
    args.push((...values: unknown[]) => this.#begin('run_handler', number, { values, forms }))
  }

  /** Functions of `guildhall.room` take handlers, and `after` a task. */
  #takeOfRoom(name: string, args: unknown[]): void {
    if (name === 'handler' || name === 'reply') this.#register([], args)
    else if (name === 'after' && typeof args[2] === 'number') args[2] = this.#task(args[2])
  }

  #task(number: number): () => unknown {
    const task = () => this.#begin('run_task', number)
    this.#released.register(task, number)
    return task
  }

  /** @param asked the call to the node, by which the script may stop it; 0 for none */
  #wait(promise: Promise<unknown>, asked: number, written: MarshalWriter): void {
    this.#lastCall = (this.#lastCall + 1) % runsMax
    const call = this.#lastCall
    const run = this.#running
    written.tuple(3).int(answer.called).int(call).value(asked)
    const settle = (items: number, write: (writer: MarshalWriter) => void) => {
      const { number } = run
      this.#goOn(run, 'settle', (python) =>
        write(
          python
            .begin(2 + items)
            .int(number)
            .int(call),
        ),
      )
    }
    promise.then(
      (value) => settle(2, (writer) => writer.int(answer.ok).value(value ?? null)),
      (error: unknown) => settle(refusalItems, (writer) => writeRefusalItems(writer, error)),
    )
  }
}

function nameAt(entry: Entry, index: number): string | undefined {
  return entry.kind === 'function' ? entry.params[index] : undefined
}

function replyIn(reader: MarshalReader): unknown {
  try {
    return reader.value()
  } catch (error) {
    throw replyRefusal(error)
  }
}

type Asked = { readonly asked: MarshalReader; readonly count: number }

type Arguments = {
  readonly values: readonly unknown[]
  readonly forms: readonly (readonly string[] | undefined)[]
}

const refusalItems = 5

function writeRefusal(writer: MarshalWriter, error: unknown): void {
  writeRefusalItems(writer.tuple(refusalItems), error)
}

function writeRefusalItems(writer: MarshalWriter, error: unknown): void {
  writer.int(answer.failed)
  const chosen = FailSignal.read(error)
  if (chosen) writer.value('fail').value(chosen.text).value(null).value(chosen.more)
  else if (error instanceof GuildhallError) {
    const { code, message, index = null, reason = null } = error
    writer.value(code).value(message).value(index).value(reason)
  } else writer.value('internal').value('the function failed').value(null).value(null)
}

/** The error that ends a handler. */
function failureOf(reader: MarshalReader, count: number): Error {
  const [kind, ...items] = Array.from({ length: count }, () => reader.value())
  const [text, more] = items
  const isChosen = kind === 'fail' && typeof text === 'string' && typeof more === 'string'
  return isChosen ? new FailSignal(text, more) : new PythonError(placeOf(items))
}
