import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { type GameTypes, Status } from '@guildhall/contract'
import { atEndOfTurn, createSystemClock } from '../kernel/clock.ts'
import { newBootId } from '../kernel/ids.ts'
import { createSteppedClock, type SteppedClock } from '../kernel/time/stepped-clock.ts'
import { type RunningNode, startNode } from '../node/node.ts'
import { version } from '../version.ts'
import { createGameLog } from './game-log.ts'
import { operator, testedConfig } from './test-config.ts'
import { testContext } from './test-context.ts'
import { patienceMs } from './test-inbox.ts'
import { enterGame, type TestPlayer } from './test-player.ts'

/** Of a test of node:test: what is to be done when it has ended. */
type Test = { after(end: () => Promise<void>): void }

type GameOptions = {
  /** Configuration keys that differ from those of the command. */
  settings?: Readonly<Record<string, string>>
  /** What the clock begins with; 2025-01-01 00:00 UTC. */
  now?: Date
}

/** 2025-01-01 00:00:00 UTC. */
const startUnixMs = 1_735_689_600_000

/**
 * Starts the game on a node of its own, in this process, with a database in memory and a clock that
 * stands still; ends it with the test.
 */
export async function openGame<G extends GameTypes = GameTypes>(
  test: Test,
  { settings = {}, now }: GameOptions = {},
) {
  const realClock = createSystemClock()
  const loaded = await testedConfig(testContext(), process.env, settings)
  let node: RunningNode | undefined
  const players: TestPlayer<G>[] = []
  const isQuiet = () =>
    (node?.isScriptQuiet() ?? true) && !players.some((player) => player.isReturning())
  const quiet = () => untilQuiet(isQuiet, realClock)
  const clock = createSteppedClock({ startUnixMs: now?.getTime() ?? startUnixMs, settled: quiet })
  const log = createGameLog(clock, (text) => process.stderr.write(text))
  const started = await startNode({
    loaded,
    clock,
    processClock: realClock,
    log: log.log,
    bootId: newBootId(),
    version,
    environment: process.env,
    signal: new AbortController().signal,
  })
  node = started
  const { url } = started
  await begun(url, clock)

  async function settled(): Promise<void> {
    await quiet()
    // What players have sent is with the script after the first, its answers are here after the
    // second.
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(players.map((player) => player.caughtUp()))
      await quiet()
    }
  }

  let closing: Promise<void> | undefined
  async function close(): Promise<void> {
    await Promise.all(players.map((player) => player.leave()))
    await stopped(started, clock)
  }

  async function enter(username: string | undefined): Promise<TestPlayer<G>> {
    const player = await enterGame<G>({ url, username, clock, realClock })
    players.push(player)
    return player
  }

  const game = {
    url,
    now: () => clock.nowUnixMs(),
    signIn: (username: string) => enter(username),
    guest: () => enter(undefined),
    async advance(ms: number): Promise<void> {
      await settled()
      await clock.advance(ms)
      await settled()
    },
    settled,
    log: () => log.lines(),
    async console(): Promise<ConsoleClient> {
      const client = createConsoleClient(url)
      await client.signIn(operator)
      return client
    },
    close(): Promise<void> {
      closing ??= close()
      return closing
    },
  }
  test.after(() => game.close())
  return game
}

/** Waits until every call of the script has begun and every answer has arrived. */
async function untilQuiet(
  isQuiet: () => boolean,
  realClock: ReturnType<typeof createSystemClock>,
): Promise<void> {
  const endMs = realClock.monotonicMs() + patienceMs
  for (let turn = 0; !isQuiet() && realClock.monotonicMs() < endMs; turn += 1) {
    if (turn < turnsBeforeRest) await new Promise<void>((resolve) => atEndOfTurn(resolve))
    else await realClock.sleep(1)
  }
}

/** Answers mostly come at once; a wait for a slow one leaves it the machine. */
const turnsBeforeRest = 200

/** Waits until every background task has run once: indexes are built, schedules are known. */
async function begun(url: string, clock: SteppedClock): Promise<void> {
  for (let looks = 0; looks < looksMax; looks += 1) {
    await clock.advance(0)
    const { tasks } = Status().parse(await (await fetch(`${url}/status`)).json())
    const has = ({ state, last_run_unix_ms }: (typeof tasks)[number]) =>
      state !== 'running' && last_run_unix_ms !== null
    if (tasks.every(has)) return
  }
}

const looksMax = 100

/** What ends may wait for the clock: it goes on until all has ended. */
async function stopped(node: RunningNode, clock: SteppedClock): Promise<void> {
  let isDone = false
  const stopping = node.stop({ deadlineMs: stopMs, drainDelayMs: 0 }).finally(() => {
    isDone = true
  })
  while (!isDone) await clock.advance(stopStepMs)
  await stopping
}

/** Of the game's clock. */
const stopMs = 60_000
const stopStepMs = 10
