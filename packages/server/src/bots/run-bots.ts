import { type Connection, createPlayer, type Player } from '@guildhall/client'
import type { Config } from '../config/schema.ts'
import { createSystemClock } from '../kernel/clock.ts'
import { within } from '../kernel/time/within.ts'
import { BotCalls, type CallReport } from './bot-calls.ts'
import { nodeUrl, readCpuSeconds } from './node-facts.ts'

/** What a bot is called with: a player that has signed in and is connected. */
export type BotContext = {
  player: Player
  connection: Connection
  /** 0 for the first bot, and so on. */
  index: number
  /** Aborts when the time is over. */
  signal: AbortSignal
  /** Runs something and counts it: how long it took, and whether it failed. */
  call<T>(name: string, run: () => T | Promise<T>): Promise<T>
}

/** It plays until its signal aborts; one that returns earlier waits for the others. */
export type Bot = (context: BotContext) => unknown

type BotsOptions = {
  clients: number
  seconds: number
  config: Config
  /** Hears what a person should know while it runs. */
  onNote(text: string): void
}

export type BotsReport = {
  clients: number
  connected: number
  /** How often a connection was lost while they played; it comes back by itself. */
  lost: number
  seconds: number
  /** Share of one core that the node used meanwhile, with its script; null when it does not say. */
  server_cpu: number | null
  /** The same of the process of the bots: near 1 the times are its own, and not the node's. */
  bots_cpu: number
  calls: readonly CallReport[]
  /** Failing calls among all, 0 to 1. */
  error_rate: number
}

/** How many sign in at a time. */
const arrivingMax = 16
/** How long bots may take to return when the time is over, in milliseconds. */
const farewellMs = 5_000

/**
 * Plays with many bots at once, each in a connection of its own. Answers with the reason when no
 * node is there.
 */
export async function runBots(
  bot: Bot,
  { clients, seconds, config, onNote }: BotsOptions,
): Promise<BotsReport | string> {
  const clock = createSystemClock()
  const url = nodeUrl(config)
  if (!(await answers(url))) return `no node answers at ${url}`
  const calls = new BotCalls(clock)
  const over = new AbortController()
  const arrived = await arrive(url, clients, calls)
  const [first] = calls.report(seconds)
  if (arrived.length < clients && first?.first_error) onNote(hintOf(first.first_error))
  onNote(`${arrived.length} of ${clients} bots play for ${seconds} s`)

  const before = await readCpuSeconds(config)
  const startMs = clock.monotonicMs()
  const startUsage = process.cpuUsage()
  let lost = 0
  for (const { connection } of arrived) {
    let isOpen = true
    connection.on('state', ({ state }) => {
      if (isOpen && state !== 'open' && !over.signal.aborted) lost += 1
      isOpen = state === 'open'
    })
  }
  const playing = arrived.map(async ({ index, player, connection }) => {
    const call: BotContext['call'] = (name, run) => calls.time(name, run, over.signal)
    try {
      await bot({ player, connection, index, signal: over.signal, call })
    } catch (error) {
      if (!over.signal.aborted) calls.failed('bot', error)
    }
  })
  await clock.sleep(seconds * 1000)
  const spent = (clock.monotonicMs() - startMs) / 1000
  const { user, system } = process.cpuUsage(startUsage)
  const after = await readCpuSeconds(config)
  over.abort()
  await within(clock, farewellMs, Promise.all(playing))
  await Promise.all(arrived.map(({ connection }) => connection.close()))
  const report = calls.report(spent)
  return {
    clients,
    connected: arrived.length,
    lost,
    seconds,
    server_cpu: before === undefined || after === undefined ? null : (after - before) / spent,
    bots_cpu: (user + system) / 1e6 / spent,
    calls: report,
    error_rate: calls.errorRate(),
  }
}

type Arrived = { index: number; player: Player; connection: Connection }

async function arrive(url: string, clients: number, calls: BotCalls): Promise<Arrived[]> {
  const arrived: Arrived[] = []
  let next = 0

  async function worker(): Promise<void> {
    for (let index = next++; index < clients; index = next++) {
      const player = createPlayer(url)
      // The same accounts at every run: a game's store does not fill with bots.
      const name = `bot-${String(index).padStart(5, '0')}`
      try {
        await calls.time('sign in', () =>
          player.signIn.device({ id: `guildhall-${name}`, create: true, username: name }),
        )
        const connection = await calls.time('connect', () => player.connect())
        arrived.push({ index, player, connection })
      } catch {
        // It is counted, and the others play.
      }
    }
  }

  await Promise.all(Array.from({ length: arrivingMax }, worker))
  return arrived
}

async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health/live`).then(
    ({ ok }) => ok,
    () => false,
  )
}

function hintOf(error: string): string {
  if (!error.startsWith('rate_limited')) return `some bots did not come in: ${error}`
  const keys = ['source', 'registration_source'].map(
    (name) => `--set authentication.limits.${name}.limit=100000`,
  )
  return `the node limits sign-ins of one address: start it with ${keys.join(' ')}`
}
