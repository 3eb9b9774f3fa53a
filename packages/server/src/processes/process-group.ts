import type { Binds } from '../config/processes.ts'
import type { Clock } from '../kernel/clock.ts'
import type { ReadyFacts } from './messages.ts'

/** A process that runs. */
export type RunningProcess = {
  signal(signal: NodeJS.Signals): void
  hangUp(): void
}

export type ProcessEvents = {
  ready(facts: ReadyFacts): void
  ended(code: number): void
}

export type ProcessGroupDeps = {
  count: number
  clock: Clock
  /** Where all listen; undefined until the system has chosen ports for the first. */
  binds: Binds | undefined
  /** Where one listens that serves. */
  bindsOf(facts: ReadyFacts): Binds
  start(number: number, binds: Binds | undefined, events: ProcessEvents): RunningProcess
  /** All serve, for the first time. */
  onReady(all: readonly ReadyFacts[]): void
  /** One has ended, and is started again after so long. */
  onDied(number: number, code: number, delayMs: number): void
}

/**
 * | state   | what it does                                      | what comes next |
 * |---------|---------------------------------------------------|-----------------|
 * | waiting | is to be started                                  | running         |
 * | running | has a process, which serves once there are facts  | ended           |
 * | ended   | is started again after its delay                  | waiting         |
 */
type State = 'waiting' | 'running' | 'ended'

type Member = {
  readonly number: number
  state: State
  process: RunningProcess | undefined
  facts: ReadyFacts | undefined
  startedAtMs: number
  delayMs: number
  /** Whether its last start has failed. */
  hasFailed: boolean
}

const delayMinMs = 1000
const delayMaxMs = 30_000
/** A process that ran for so long is started again without haste, as if it had not died before. */
const steadyMs = 60_000

/** The processes of one command: starts those that die again, until the command is to end. */
export class ProcessGroup {
  readonly #deps: ProcessGroupDeps
  readonly #members: readonly Member[]
  readonly #stopping = new AbortController()
  readonly #ended = Promise.withResolvers<number>()
  #binds: Binds | undefined
  #wasReady = false
  #code = 0

  constructor(deps: ProcessGroupDeps) {
    this.#deps = deps
    this.#binds = deps.binds
    this.#members = Array.from({ length: deps.count }, (_, index) => ({
      number: index + 1,
      state: 'waiting',
      process: undefined,
      facts: undefined,
      startedAtMs: 0,
      delayMs: delayMinMs,
      hasFailed: false,
    }))
  }

  /** Resolves to the exit code of the command once all have ended for good. */
  run(): Promise<number> {
    this.#startWaiting()
    return this.#ended.promise
  }

  /** Passes on what asks the command to end. */
  signal(signal: NodeJS.Signals): void {
    if (!this.#stopping.signal.aborted) this.#code = 0
    this.#stopping.abort()
    for (const { process } of this.#members) process?.signal(signal)
    this.#settle()
  }

  hangUp(): void {
    for (const { process } of this.#members) process?.hangUp()
  }

  /** One alone while its port is unknown, then all. */
  #startWaiting(): void {
    for (const member of this.#members) {
      const isAlone = this.#binds === undefined && this.#members.some((each) => each.process)
      if (member.state === 'waiting' && !isAlone) this.#start(member)
    }
  }

  #start(member: Member): void {
    member.state = 'running'
    member.startedAtMs = this.#deps.clock.monotonicMs()
    member.process = this.#deps.start(member.number, this.#binds, {
      ready: (facts) => this.#ready(member, facts),
      ended: (code) => this.#died(member, code),
    })
  }

  #ready(member: Member, facts: ReadyFacts): void {
    member.facts = facts
    member.hasFailed = false
    this.#binds ??= this.#deps.bindsOf(facts)
    if (this.#stopping.signal.aborted) return
    this.#startWaiting()
    const all = this.#members.flatMap((each) => each.facts ?? [])
    if (this.#wasReady || all.length < this.#members.length) return
    this.#wasReady = true
    this.#deps.onReady(all)
  }

  #died(member: Member, code: number): void {
    member.hasFailed = member.facts === undefined
    member.state = 'ended'
    member.process = undefined
    member.facts = undefined
    if (this.#stopping.signal.aborted) {
      this.#code ||= code
      this.#settle()
      return
    }
    if (!member.hasFailed) this.#code = 0
    else this.#code ||= code
    if (this.#members.every(({ hasFailed }) => hasFailed)) {
      this.#giveUp()
      return
    }
    void this.#restart(member, code)
    this.#startWaiting()
  }

  async #restart(member: Member, code: number): Promise<void> {
    const { clock, onDied } = this.#deps
    const ranMs = clock.monotonicMs() - member.startedAtMs
    const delayMs = ranMs < steadyMs ? member.delayMs : delayMinMs
    member.delayMs = Math.min(2 * delayMs, delayMaxMs)
    onDied(member.number, code, delayMs)
    try {
      await clock.sleep(delayMs, this.#stopping.signal)
    } catch {
      return
    }
    member.state = 'waiting'
    this.#startWaiting()
  }

  /** None of them can start: what still tries is asked to end. */
  #giveUp(): void {
    this.#stopping.abort()
    for (const { process } of this.#members) process?.signal('SIGTERM')
    this.#settle()
  }

  #settle(): void {
    if (this.#members.every(({ process }) => process === undefined)) this.#ended.resolve(this.#code)
  }
}
