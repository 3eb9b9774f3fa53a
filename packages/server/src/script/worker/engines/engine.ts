import type { Clock } from '../../../kernel/clock.ts'
import type { LoadProblem } from '../../process/load-error.ts'
import type { WorkerSettings } from '../../wire/protocol.ts'
import type { ScriptFile } from '../../wire/revision.ts'
import type { ErrorPlace } from '../errors.ts'
import type { Invocation } from '../invocation.ts'

/**
 * What runs scripts of one language inside a worker process. All else of a worker is the same for
 * every language: the order of calls, commands, answers, timers, calls to the node.
 *
 * Values pass here as those of JavaScript. An engine of another language registers its handlers as
 * functions of JavaScript, and converts what they take and return; a handler that waits returns a
 * promise.
 */
export type Engine = {
  /**
   * Gives `guildhall` to the script, reads the entry file and what it imports, and runs their top
   * level, which registers handlers. Rejects with whatever the script threw.
   */
  load(entry: string, guildhall: object): Promise<void>
  /** The local files that were loaded so far, with their bytes: they name the revision. */
  files(): ScriptFile[]
  /** What the node reports of an error that `load` rejected with. */
  problemOf(error: unknown): LoadProblem
  /** Message and place of what a handler threw. Throws nothing, whatever the error is. */
  describe(error: unknown): ErrorPlace
  readonly guard: Guard
  readonly scope: Scope
  /** Looks at what the script keeps. Ends the process when it is more than its memory. */
  checkMemory(): void
}

/**
 * Runs code that an endless loop must not hold: it is ended by an error that no code inside can
 * catch, and everything outside lives on.
 */
export type Guard = {
  /**
   * Runs `work` once. One run may cover many calls: inside, `mayBegin()` says whether it still
   * covers another one; when it does not, `work` must return.
   */
  run(deadlineMs: number, work: () => void): 'finished' | 'interrupted'
  mayBegin(nowMs: number): boolean
}

/** Which invocation computes, also after it has waited. */
export type Scope = {
  /** Calls `fn(a, b)`; what it goes on with later still belongs to the invocation. */
  run<A, B, R>(invocation: Invocation, fn: (a: A, b: B) => R, a: A, b: B): R
  /** Undefined outside of all invocations. */
  current(): Invocation | undefined
  /** An interrupt skipped the end of a run. */
  abandon(): void
}

export type EngineDeps = {
  settings: WorkerSettings
  /** The bytes that a restart runs, whatever the folder holds; undefined reads the folder. */
  files: readonly ScriptFile[] | undefined
  clock: Pick<Clock, 'monotonicMs'>
  /** Ends the process. */
  exit(code: number): void
}

export type CreateEngine = (deps: EngineDeps) => Engine
