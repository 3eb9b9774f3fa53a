import type { Clock, Timer } from '../../kernel/clock.ts'
import { abortable, createSteppedClock } from '../../kernel/time/stepped-clock.ts'
import { createRandom, type Random } from '../crash/random.ts'

/** Time, chance and the record of what happened, of one run. */
export type World = {
  nowMs(): number
  after(delayMs: number, task: () => void): Timer
  every(intervalMs: number, task: () => void): Timer
  /** Lets the run go on for so long. */
  pass(ms: number): Promise<void>
  /** Choices that do not depend on how many others were made. */
  random(of: string): Random
  say(line: string): void
  /** What was said; the same in every run of a seed. */
  readonly trace: readonly string[]
  /** Something that must never be. */
  broken(what: string): void
  readonly violations: readonly string[]
}

export function createWorld(seed: number, turns: () => Promise<void>): World {
  const clock = createSteppedClock({ startUnixMs, turns })
  const trace: string[] = []
  const violations: string[] = []
  const stamped = (line: string) => `${(clock.monotonicMs() / 1000).toFixed(3)} ${line}`
  return {
    nowMs: clock.monotonicMs,
    after: clock.after,
    every: clock.every,
    pass: clock.advance,
    random: (of) => createRandom(seedOf(`${seed} ${of}`)),
    say: (line) => void trace.push(stamped(line)),
    trace,
    broken(what) {
      violations.push(stamped(what))
      trace.push(stamped(`BROKEN ${what}`))
    },
    violations,
  }
}

/**
 * A process of the operating system: it can be stopped for a while, or killed. Whatever reaches it
 * enters by `enter`, so that nothing runs in it while it does not run.
 */
export class Process {
  readonly clock: Clock
  readonly #world: World
  #state: 'running' | 'stopped' | 'dead' = 'running'
  #backlog: (() => void)[] = []
  readonly #timers = new Set<Timer>()
  #wallAheadMs = 0

  constructor(world: World) {
    this.#world = world
    this.clock = {
      nowUnixMs: () => Math.floor(startUnixMs + world.nowMs() + this.#wallAheadMs),
      monotonicMs: world.nowMs,
      after: (delayMs, task) => this.#after(delayMs, task),
      every: (intervalMs, task) => this.#every(intervalMs, task),
      sleep: (delayMs, signal) => this.#sleep(delayMs, signal),
    }
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  /** How many timers wait: a run can show that nothing was left behind. */
  get timers(): number {
    return this.#timers.size
  }

  enter(task: () => void): void {
    if (this.#state === 'running') task()
    else if (this.#state === 'stopped') this.#backlog.push(task)
  }

  /** As SIGSTOP does. */
  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped'
  }

  /** As SIGCONT does: what came meanwhile is found in the order in which it came. */
  resume(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'running'
    const backlog = this.#backlog
    this.#backlog = []
    for (const task of backlog) task()
  }

  kill(): void {
    this.#state = 'dead'
    this.#backlog = []
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
  }

  moveWall(byMs: number): void {
    this.#wallAheadMs += byMs
  }

  #after(delayMs: number, task: () => void): Timer {
    if (this.isDead) return { cancel() {} }
    const handle = this.#world.after(delayMs, () => {
      this.enter(() => {
        if (this.#timers.delete(timer)) task()
      })
    })
    const timer = this.#keep(handle)
    return timer
  }

  #every(intervalMs: number, task: () => void): Timer {
    if (this.isDead) return { cancel() {} }
    let isDue = false
    const handle = this.#world.every(intervalMs, () => {
      if (isDue) return
      isDue = true
      this.enter(() => {
        isDue = false
        if (this.#timers.has(timer)) task()
      })
    })
    const timer = this.#keep(handle)
    return timer
  }

  #keep(handle: Timer): Timer {
    const timer: Timer = {
      cancel: () => {
        this.#timers.delete(timer)
        handle.cancel()
      },
    }
    this.#timers.add(timer)
    return timer
  }

  #sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return abortable(signal, (done) => this.#after(delayMs, done))
  }
}

const startUnixMs = 1_735_689_600_000

/** FNV-1a: a number that any other text makes different. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return hash >>> 0
}
