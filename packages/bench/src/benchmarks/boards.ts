import { join } from 'node:path'
import { leaderboardsApi, stringifyExact } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { HttpConnection, httpRequest } from '../load/http-connection.ts'
import { runHttpLoad } from '../load/http-load.ts'
import { signInOperator } from '../load/operator.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import { shares, type Window } from '../load/window.ts'
import type { Child } from '../processes/child.ts'
import { boardId, copyOfFile, fillBoard, ownerOf } from '../processes/filled-board.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { createDatabase, startPostgres } from '../processes/postgres.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'

/** A board of a million from outside: over HTTP, and by calls of the script. */
export const boards: Benchmark = { name: 'boards', comparesCheckouts: true, run }

const million = 1_000_000
const inFlight = 64
const rounds = 5
/** All rows together take two minutes; in a round there are some thousand requests. */
const roundSeconds = 0.6

type Outcome = Window & { perSecond: number }

async function run(bench: Bench): Promise<Row[]> {
  const { against, folder } = bench
  const records = bench.count(million)
  // Both sides begin with copies of one store, with the tables of the other checkout.
  const file = `sqlite:${join(folder, 'boards.db')}`
  await fillBoard(bench, { url: file, records, checkout: against })
  const own = copyOfFile(file, 'own')
  const onFile = await rowsOn(bench, 'SQLite file', { own, other: against && file })
  await using postgres = await startPostgres(bench)
  const filled = await createDatabase(postgres, 'filled')
  await fillBoard(bench, { url: filled, records, checkout: against })
  const copy = await createDatabase(postgres, 'own', 'filled')
  return [
    ...onFile,
    ...(await rowsOn(bench, 'PostgreSQL', { own: copy, other: against && filled })),
  ]
}

type Urls = { own: string; other: string | undefined }

async function rowsOn(bench: Bench, backend: string, urls: Urls): Promise<Row[]> {
  const own = await subject(bench, urls.own)
  await using _own = own.server
  const other =
    urls.other === undefined ? undefined : await subject(bench, urls.other, bench.against)
  await using _other = other?.server
  const load = `${inFlight} in flight, ${backend}`
  const ofBoard = (what: string) => `${what} of ${bench.count(million)}, ${load}`
  const beside = (theirs: Works | undefined) => {
    if (theirs === undefined) return { name: 'GET /console/v1/me', theirs: own.me }
    return { name: 'the other checkout', theirs }
  }
  const compared: readonly Compared[] = [
    // An answer of the node that the script hands on untouched, beside one that it takes apart.
    {
      what: `first 100 of a board by script, raw, ${load}`,
      ours: () => own.topOf('top'),
      theirs: () => own.topOf('top-value'),
      name: 'as a value',
      warmUps: 3,
      atLeast: 5000,
    },
    // A record and its neighbours, as a value, beside a call that asks for nothing.
    {
      what: `11 records around one by script, ${load}`,
      ours: own.around,
      theirs: own.echo,
      name: 'RPC that echoes nothing',
      warmUps: 3,
      atLeast: 2500,
    },
    { what: ofBoard('first 100 of a board'), ours: own.first, ...beside(other?.first) },
    {
      what: ofBoard('page of 100 in the middle of a board'),
      ours: own.middle,
      ...beside(other?.middle),
    },
    { what: ofBoard('page of 100 somewhere in a board'), ours: own.far, ...beside(other?.far) },
    {
      what: ofBoard('submission by console to a board'),
      ours: own.console,
      ...beside(other?.console),
    },
    // The script of an older checkout may know no boards: its console is compared with then. Ours
    // has a process of its own, whose code nothing has run before.
    {
      what: ofBoard('submission by script to a board'),
      ours: own.script,
      ...beside(other?.console),
      warmUps: 5,
    },
  ]
  const rows: Row[] = []
  for (const each of compared) rows.push(await rowOf(each))
  return rows
}

type Works = () => Promise<Outcome>
type Compared = {
  what: string
  ours: Works
  theirs: Works
  /** Of theirs. */
  name: string
  warmUps?: number
  /** So many of ours in a second. */
  atLeast?: number
}

async function rowOf({ what, ours, theirs, name, warmUps = 1, atLeast }: Compared): Promise<Row> {
  const compared = await compareInTurn(
    {
      product: ours,
      baseline: theirs,
      ratioOf: (a: Outcome, b: Outcome) => a.perSecond / b.perSecond,
    },
    { rounds, warmUps },
  )
  const { product, baseline, ratio } = compared
  return {
    what,
    product: { value: product.perSecond, unit: '/s' },
    baseline: { name, value: baseline.perSecond, unit: '/s' },
    ratio,
    ...(atLeast !== undefined && { bound: { of: 'value', is: 'at least', limit: atLeast } }),
    notes: `${ratios(compared)}; ${shares(product)}; baseline ${shares(baseline)}`,
  }
}

async function subject(bench: Bench, url: string, checkout?: string) {
  const records = bench.count(million)
  const options = { keys: { 'database.url': url }, on: 'both', checkout } as const
  // An older script may lack what ours calls, so it is not asked to load.
  const isOwn = checkout === undefined
  const server = await (isOwn ? startScripted(bench, options) : startGuildhall(bench, options))
  const works = await worksOf(bench, server, records)
  const clients = isOwn ? await openPlayers(server, inFlight) : []
  const seconds = bench.seconds(roundSeconds)
  let made = 0
  const calls = (message: () => Buffer, bytes = 0) =>
    runRpcLoad({
      server,
      clients,
      seconds,
      areResponses: true,
      answerBytes: responseHeadBytes + bytes,
      message,
    })
  const next = () => {
    made += 1
    return someOwner(made, records)
  }
  return {
    server,
    ...works,
    script: () => calls(() => rpcMessage('submit', `${next()} ${someScore(made)}`)),
    around: () => calls(() => rpcMessage('around', next())),
    echo: () => calls(() => rpcMessage('echo', '')),
    topOf: (method: string) => calls(() => rpcMessage(method, ''), works.topBytes),
  }
}

async function worksOf(bench: Bench, server: Child, records: number) {
  const token = await signInOperator(server.port)
  const path = `/console/v1/leaderboards/${boardId}/records`
  const load = { server, connections: inFlight, seconds: bench.seconds(roundSeconds), status: 200 }
  const page = (offset: number) =>
    httpRequest('GET', `${path}?limit=100&offset=${offset}`, { token })
  const first = page(0)
  const middle = page(Math.floor(records / 2))
  const connection = await HttpConnection.open(server.port)
  const { body } = await connection.fetch(first)
  connection.close()
  const { total, items } = leaderboardsApi.records.ok.parse(body)
  let made = 0
  const me = httpRequest('GET', '/console/v1/me', { token })
  return {
    /** As long as the answer of the script. */
    topBytes: Buffer.byteLength(stringifyExact({ total, items })),
    me: () => runHttpLoad({ ...load, request: () => me }),
    first: () => runHttpLoad({ ...load, request: () => first }),
    middle: () => runHttpLoad({ ...load, request: () => middle }),
    far: () =>
      runHttpLoad({
        ...load,
        request: () => {
          made += 1
          return page(1000 + ((made * 611_953) % (records - 2000)))
        },
      }),
    console: () =>
      runHttpLoad({
        ...load,
        request: () => {
          made += 1
          const body = { user_id: someOwner(made, records), score: someScore(made) }
          return httpRequest('POST', path, { token, body })
        },
      }),
  }
}

/** Owners in no order; the number is coprime to that of the records. */
function someOwner(number: number, records: number): string {
  return ownerOf((number * 611_953) % records)
}

function someScore(number: number): number {
  return (number * 31 * 104_729) % 10_000_019
}
