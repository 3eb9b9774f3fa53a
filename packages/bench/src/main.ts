import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { besideOther } from './against.ts'
import { type Bench, type Benchmark, holds, type Row } from './benchmark.ts'
import { accountRead } from './benchmarks/account-read.ts'
import { auditCost } from './benchmarks/audit-cost.ts'
import { backup } from './benchmarks/backup.ts'
import { boards } from './benchmarks/boards.ts'
import { overNats, overNotify, processes } from './benchmarks/cluster.ts'
import { deviceLogins } from './benchmarks/device-login.ts'
import { echo } from './benchmarks/echo.ts'
import { explorer } from './benchmarks/explorer.ts'
import { finding } from './benchmarks/finding.ts'
import { firstMinute } from './benchmarks/first-minute.ts'
import { idleConnections } from './benchmarks/idle-connections.ts'
import { lag } from './benchmarks/lag.ts'
import { languages } from './benchmarks/languages.ts'
import { leaderboard } from './benchmarks/leaderboard.ts'
import { matchmaker } from './benchmarks/matchmaker.ts'
import { metrics } from './benchmarks/metrics.ts'
import { mix } from './benchmarks/mix.ts'
import { peersRows } from './benchmarks/peers-rows.ts'
import { relay } from './benchmarks/relay.ts'
import { reload } from './benchmarks/reload.ts'
import { rooms } from './benchmarks/rooms.ts'
import { scriptData } from './benchmarks/script-data.ts'
import { signUpLatency } from './benchmarks/sign-up-latency.ts'
import { startUp } from './benchmarks/start-up.ts'
import { states } from './benchmarks/state.ts'
import { storedObjects } from './benchmarks/storage.ts'
import { transports } from './benchmarks/transports.ts'
import { wallets } from './benchmarks/wallet.ts'
import { webSocket } from './benchmarks/websocket.ts'
import { describeMachine, loadLine } from './machine.ts'
import { claimCores } from './processes/cores.ts'
import { ownCheckout } from './processes/guildhall.ts'
import { table } from './report.ts'

/**
 * `npm run bench -- [--quick] [--against FOLDER] [NAME ...]`: measures the product beside its
 * baselines and prints a table. With `--against` it measures the product of another checkout in
 * its place, which needs its `node_modules`. Exits with 1 when a benchmark fails, or a bound does
 * not hold, which a quick run is too short to judge, and with 2 for wrong arguments.
 */

class WrongArguments extends Error {}

const benchmarks: readonly Benchmark[] = [
  accountRead,
  deviceLogins,
  signUpLatency,
  relay,
  rooms,
  ...states,
  idleConnections,
  startUp,
  wallets,
  storedObjects,
  leaderboard,
  finding,
  matchmaker,
  lag,
  auditCost,
  peersRows,
  firstMinute,
  mix,
  echo,
  webSocket,
  transports,
  boards,
  explorer,
  metrics,
  backup,
  scriptData,
  languages,
  reload,
  overNats,
  overNotify,
  processes,
]

/** How much shorter and smaller a quick run is. */
const quickShare = 0.02

const usage = 'usage: npm run bench -- [--quick] [--against FOLDER] [NAME ...]'
process.exitCode = await run(process.argv.slice(2))

async function run(args: string[]): Promise<number> {
  try {
    return await measure(requestOf(args))
  } catch (error) {
    if (!(error instanceof WrongArguments)) throw error
    process.stderr.write(`${error.message}\n${usage}\n`)
    return 2
  }
}

type Request = { list: readonly Benchmark[]; isQuick: boolean; against: string | undefined }

function requestOf(args: string[]): Request {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { quick: { type: 'boolean', default: false }, against: { type: 'string' } },
      allowPositionals: true,
    })
    const against = values.against && resolve(values.against)
    return { list: chosen(positionals), isQuick: values.quick, against }
  } catch (error) {
    throw new WrongArguments(error instanceof Error ? error.message : String(error))
  }
}

async function measure({ list, isQuick, against }: Request): Promise<number> {
  buildWhatIsStale()
  const cores = claimCores()
  for (const line of describeMachine(cores)) print(line)
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-bench-'))
  const share = isQuick ? quickShare : 1
  const bench: Bench = {
    cores,
    folder,
    checkout: ownCheckout,
    against,
    seconds: (wanted) => wanted * share,
    count: (wanted) => Math.ceil(wanted * share),
  }
  const rows: Row[] = []
  let failures = 0
  try {
    for (const benchmark of list) {
      process.stderr.write(`${benchmark.name} ...\n`)
      try {
        rows.push(...(await rowsOf(benchmark, bench)))
      } catch (error) {
        // The others have taken their time, too.
        failures += 1
        process.stderr.write(`${benchmark.name} failed: ${inspect(error)}\n`)
      }
    }
    print(`after the run: ${loadLine()}`)
    print(`\n${table(rows)}`)
    const missed = rows.filter((row) => holds(row) === false).length
    return failures + (isQuick ? 0 : missed) > 0 ? 1 : 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowsOf(benchmark: Benchmark, bench: Bench): Promise<Row[]> {
  const { against } = bench
  if (against === undefined || benchmark.comparesCheckouts) return benchmark.run(bench)
  return besideOther(benchmark, bench, against)
}

/** What `npm start` does before the node starts. */
function buildWhatIsStale(): void {
  const program = join(import.meta.dirname, '../../../scripts/build.ts')
  execFileSync(process.execPath, [program, '--if-stale'], { stdio: 'inherit' })
}

function chosen(names: readonly string[]): readonly Benchmark[] {
  if (names.length === 0) return benchmarks
  return names.map((name) => {
    const found = benchmarks.find((benchmark) => benchmark.name === name)
    if (found !== undefined) return found
    const known = benchmarks.map((benchmark) => benchmark.name).join(', ')
    throw new Error(`there is no benchmark ${name}; there are ${known}`)
  })
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
