import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { signInOperator } from '../load/operator.ts'
import { onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startFilled } from '../processes/filled.ts'
import { median, percentile } from '../statistics.ts'

/** What operators find among a million accounts and a million lines of the script. */
export const finding: Benchmark = { name: 'finding', run }

const many = 1_000_000
const reads = 20
const pauseMs = 20

/** When the first of the seeded accounts is from, in Unix milliseconds; each is one later. */
const seededFrom = 1_700_000_000_000
/** So long, in milliseconds: a fifth of the accounts, and as many of the lines. */
const span = 200_000

type Search = { what: string; path: string; withinMs: number }

const accounts = (what: string, query: string, withinMs = 100): Search => {
  return { what: `accounts ${what}`, path: `account-search?${query}`, withinMs }
}
const lines = (what: string, query: string): Search => {
  return { what: `lines ${what}`, path: `log-search?${query}`, withinMs: 100 }
}
const list = (what: string, query: string, withinMs = 500): Search => {
  return { what: `the list of accounts ${what}`, path: `accounts?${query}`, withinMs }
}

/** What no line has is looked for in as many as one page may look through. */
const unknown = 'text=nowhere'

const accountSearches: readonly Search[] = [
  accounts('by the beginning of a username', 'username_prefix=player-99'),
  accounts('by the beginning of a display name', 'display_name=PLAYER+99'),
  accounts('by a beginning that all display names have', 'display_name=P'),
  accounts('of three minutes', `created_from=${seededFrom}&created_to=${seededFrom + span}`),
  accounts('of a state that none is in', 'state=disabled'),
  list('by a whole username', 'username=player-104729', 5),
  list('with a part that few have', 'filter=r-99999'),
  list('with a part that many have', 'filter=r-9'),
]
/** The newest lines are of the time of the seeding. */
const lineSearches = (nowUnixMs: number): readonly Search[] => [
  lines('that are the newest', ''),
  lines('with a text', 'text=number+9'),
  lines('with a text that none has', unknown),
  lines('of a level, with a text that none has', `level=error&${unknown}`),
  lines('of a match, with a text that none has', `match_id=mt1-${'0'.repeat(28)}1&${unknown}`),
  lines('of the last minutes', `from=${nowUnixMs - span}&${unknown}`),
  lines('of minutes before', `from=${nowUnixMs - 3 * span}&to=${nowUnixMs - 2 * span}&${unknown}`),
]

async function run(bench: Bench): Promise<Row[]> {
  const rows = bench.count(many)
  return onBackends(bench, 'found.db', async (backend) => {
    // No lines are kept in memory.
    const keepsLines = backend.name !== 'in memory'
    const seeds = { accounts: rows, ...(keepsLines && { lines: rows }) }
    await using server = await startFilled(bench, backend, seeds)
    const token = await signInOperator(server.port)
    const found: Row[] = []
    const ofLines = keepsLines ? lineSearches(Date.now()) : []
    for (const search of [...accountSearches, ...ofLines]) {
      const what = `${search.what}, of ${rows}, ${backend.name}`
      found.push({ what, ...(await searched(bench, server, { ...search, token })) })
    }
    return found
  })
}

/** One request after the other, as one operator asks. */
async function searched(
  bench: Bench,
  server: Child,
  { path, token, withinMs }: Search & { token: string },
): Promise<Omit<Row, 'what'>> {
  const connection = await HttpConnection.open(server.port)
  const request = httpRequest('GET', `/console/v1/${path}`, { token })
  const times: number[] = []
  const wanted = bench.count(reads)
  let startCpuMs = 0
  // The first one warms up.
  for (let read = 0; read <= wanted; read += 1) {
    await sleep(pauseMs)
    const startMs = performance.now()
    const { status } = await connection.fetch(request)
    if (status !== 200) throw new Error(`${path} was answered with ${status}`)
    if (read > 0) times.push(performance.now() - startMs)
    else startCpuMs = server.cpuMs()
  }
  const cpuMs = (server.cpuMs() - startCpuMs) / wanted
  connection.close()
  return {
    product: { value: percentile(times, 0.99), unit: 'ms' },
    bound: { of: 'value', is: 'at most', limit: withinMs },
    notes: `p99 of ${wanted}, p50 ${median(times).toFixed(1)} ms; ${cpuMs.toFixed(1)} ms of CPU`,
  }
}
