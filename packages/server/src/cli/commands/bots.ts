import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Bot, BotsReport } from '../../bots/run-bots.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { printable } from '../../config/problem.ts'
import type { Invocation } from '../arguments.ts'
import { exitCodes, printJson, printLines, refuse, type Terminal } from '../terminal.ts'

const clientsMax = 10_000
const secondsMax = 3_600
/** The share of failing calls that a run may have unless it says otherwise. */
const errorsDefault = 0.01

/** Plays the game of a node that runs with many players, and says how it went. */
export async function runBotsOf(
  { config }: LoadedConfig,
  { argument, values, json }: Pick<Invocation, 'argument' | 'values' | 'json'>,
  terminal: Terminal,
): Promise<number> {
  if (argument === undefined) return refuse(terminal, 'bots needs the file of a bot')
  const clients = wholeNumber(values.get('--clients') ?? '10', clientsMax)
  const seconds = wholeNumber(values.get('--seconds') ?? '10', secondsMax)
  const errorsMax = share(values.get('--max-errors'))
  if (clients === undefined) return refuse(terminal, `--clients takes 1 to ${clientsMax}`)
  if (seconds === undefined) return refuse(terminal, `--seconds takes 1 to ${secondsMax}`)
  if (errorsMax === undefined) return refuse(terminal, '--max-errors takes a share of 0 to 1')
  const bot = await loadBot(resolve(terminal.cwd, argument))
  if (typeof bot === 'string') return refuse(terminal, `${argument}: ${bot}`)
  const { runBots } = await import('../../bots/run-bots.ts')
  const run = await runBots(bot, { clients, seconds, config, onNote: note(terminal) })
  if (typeof run === 'string') return refuse(terminal, run, exitCodes.failure)
  const ok = run.error_rate <= errorsMax
  if (json) printJson(terminal.stdout, { ok, ...run })
  else printLines(terminal.stdout, reportLines(run))
  if (!ok) refuse(terminal, `more than ${errorsMax * 100} % of the calls failed`)
  return ok ? exitCodes.ok : exitCodes.failure
}

function note({ stderr }: Terminal): (text: string) => void {
  return (text) => printLines(stderr, [printable(text)])
}

/** The function that the file exports, or what is wrong with it. */
async function loadBot(file: string): Promise<Bot | string> {
  try {
    const { default: bot } = await import(pathToFileURL(file).href)
    return typeof bot === 'function' ? bot : 'it has no function as its default export'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function wholeNumber(text: string, most: number): number | undefined {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= most ? number : undefined
}

function share(text: string | undefined): number | undefined {
  if (text === undefined) return errorsDefault
  const number = /^\d(\.\d+)?$/.test(text) ? Number(text) : -1
  return number >= 0 && number <= 1 ? number : undefined
}

/** From this share of a core on the bots are late themselves. */
const fullCore = 0.8
const noCpu = 'unknown: metrics.enabled with metrics.auth = "none" shows it'

function reportLines(report: BotsReport): string[] {
  const { connected, clients, lost, seconds, server_cpu, bots_cpu, calls } = report
  const ofCore = (share: number) => `${(share * 100).toFixed(0)} % of one core`
  const cpu = server_cpu === null ? noCpu : `${ofCore(server_cpu)}, script included`
  const own = bots_cpu < fullCore ? '' : ': what is slow may be the bots'
  const rows = calls.map(({ name, count, per_second, p50_ms, p99_ms, errors, first_error }) => {
    const times = [count, per_second.toFixed(1), p50_ms.toFixed(1), p99_ms.toFixed(1), errors]
    const why = first_error === null ? '' : `  ${first_error}`
    return `${name.padEnd(20)}${times.map((each) => String(each).padStart(10)).join('')}${why}`
  })
  const head = ['calls', 'per s', 'p50 ms', 'p99 ms', 'errors'].map((each) => each.padStart(10))
  return [
    `connected           ${connected} of ${clients}, for ${seconds} s`,
    `lost meanwhile      ${lost}`,
    `server CPU          ${cpu}`,
    `CPU of the bots     ${ofCore(bots_cpu)}${own}`,
    '',
    `${''.padEnd(20)}${head.join('')}`,
    ...rows,
  ].map(printable)
}
