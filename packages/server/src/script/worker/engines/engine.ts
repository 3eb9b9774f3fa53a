import type { Clock } from '../../../kernel/clock.ts'
import type { LoadProblem } from '../../process/load-error.ts'
import type { WorkerSettings } from '../../wire/protocol.ts'
import type { ScriptFile } from '../../wire/revision.ts'
import type { Surface } from '../bindings/surface.ts'
import type { ErrorPlace } from '../errors.ts'
import type { Invocation } from '../invocation.ts'

/**
 * What runs scripts of one language inside a worker process. All else of a worker is the same for
 * every language: the order of calls, commands, answers, timers, calls to the node.
 *
 * Values pass here as those of JavaScript. An engine of another language registers its handlers as
 * functions of JavaScript, and converts what they take and return; a handler that waits returns a
 * promise. Where the language has no promises of its own, what follows a wait runs through
 * `EngineDeps.resume`, one slice at a time.
 */
export type Engine = {
  /**
   * Gives the functions of `guildhall` to the script, and runs the top level of its entry file and
   * of what that one imports, which registers handlers. Rejects with whatever the script threw.
   */
  load(script: Script): Promise<void>
  /** Of an engine that reads the files itself: what it has read so far, which is the revision. */
  filesRead?(): ScriptFile[]
  /** What the node reports of an error that `load` rejected with. */
  problemOf(error: unknown): LoadProblem
  /** Message and place of what a handler threw. Throws nothing, whatever the error is. */
  describe(error: unknown): ErrorPlace
  /** Of 127.0.0.1: where a debugger finds the script; undefined without an inspector. */
  readonly inspectorPort?: number | undefined
  /** Where the CPU goes in so many milliseconds, as the text of a .cpuprofile. */
  profile?(durationMs: number): Promise<string>
  readonly guard: Guard
  readonly scope: Scope
  /** The invocation has been given up while it waited: it will not go on. */
  forget(invocation: Invocation): void
  /** Looks at what the script keeps. Ends the process when it is more than its memory. */
  checkMemory(): void
}

/** A script as it is handed to its engine. */
export type Script = {
  readonly entry: string
  /** All files that the script has; undefined where the engine reads them itself. */
  readonly files: readonly ScriptFile[] | undefined
  readonly surface: Surface
}

/** How a run under a guard went, for who goes on behind it. */
export type Ended = 'finished' | 'interrupted'

/**
 * Runs code that an endless loop must not hold: it is ended by an error that no code inside can
 * catch, and everything outside lives on. An engine that counts its own instructions needs no
 * guard (see guest.ts): it ends a slice by throwing `Interrupted`.
 */
export type Guard = {
  /**
   * Runs `work` once. One run may cover many calls: inside, `mayBegin()` says whether it still
   * covers another one; when it does not, `work` must return.
   */
  run(deadlineMs: number, work: () => void): Ended
  /**
   * The same at less cost, where nothing but the event loop calls. An interrupt may end all that
   * runs then, of which the end of the turn hears by `takeInterrupt`.
   */
  runAlone(deadlineMs: number, work: () => void): Ended
  /** Whether what ran alone was interrupted; only once. */
  takeInterrupt(): boolean
  mayBegin(nowMs: number): boolean
}

/** Which invocation computes, also after it has waited. */
export type Scope = {
  /** Calls `fn(a, b)`; what it goes on with later still belongs to the invocation. */
  run<A, B, R>(invocation: Invocation, fn: (a: A, b: B) => R, a: A, b: B): R
  /** Undefined outside of all invocations. */
  current(): Invocation | undefined
  /**
   * Reports from now on every slice that goes on behind an await, as it begins. Undefined where
   * slices after the first run through `EngineDeps.resume`.
   */
  noteSlices?(begins: (invocation: Invocation) => void): void
}

export type EngineDeps = {
  settings: WorkerSettings
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  /**
   * Runs a slice after the first, for an engine that begins them itself. What the slice throws ends
   * the invocation; one that was given up meanwhile does not go on. What goes on after the end of
   * its invocation, or belongs to none, runs outside of all handlers.
   */
  resume(invocation: Invocation | undefined, slice: () => void): void
  /**
   * Of an engine that reads files itself: reports to the node which file it looks for, with its
   * bytes or undefined where it is not there, before the code in it runs.
   */
  asked(path: string, bytes: Uint8Array | undefined): void
  /** Another number every few milliseconds: cheaper than the clock. */
  ticks(): number
  /** Whether a debugger holds the script as long as it likes: deadlines and bounds rest. */
  isAttached(): boolean
  /** What the watchdog interrupts: see control.ts. */
  interrupts: {
    arm(withinMs: number): void
    disarm(): boolean
    take(): boolean
  }
  /** Ends the process. */
  exit(code: number): void
}

/** The worker is online once its engine has started, which may take a while. */
export type CreateEngine = (deps: EngineDeps) => Engine | Promise<Engine>
