import type { Bench, Benchmark, Bound, Row } from '../benchmark.ts'
import { createAccounts, signInOperator } from '../load/operator.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { type RpcOutcome, responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'

/** What scripts do with data, as clients on sockets see it, beside calls that compute nothing. */
export const scriptData: Benchmark = { name: 'script-data', run }

const sockets = 128
const accounts = 200
const rounds = 5
/** As in the game: calls of the node, or lines, in one call of a client. */
const atOnce = 16

function run(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'script-data.db', async (backend) => {
    return backend.name === 'in memory' ? [] : rowsOn(bench, backend)
  })
}

type Subject = { bench: Bench; server: Child; players: readonly WebSocketClient[]; where: string }

async function rowsOn(bench: Bench, { name, url }: MeasuredBackend): Promise<Row[]> {
  await using server = await startScripted(bench, { keys: { 'database.url': url }, on: 'both' })
  const players = await openPlayers(server, sockets)
  const subject: Subject = { bench, server, players, where: name }
  const rows = [
    await rateRow(subject, { method: 'write', what: 'storage_write', least: 6400 }),
    await rateRow(subject, { method: 'read', what: 'storage_read', least: 18_000 }),
    await rateRow(subject, { method: 'log', what: 'log.write, lines', least: 50_000, of: atOnce }),
    ...(await walletRows(subject)),
    await transactRow(subject),
  ]
  return name === 'SQLite file' ? [...rows, await hostCallRow(subject)] : rows
}

type Rated = { method: string; what: string; least: number; of?: number }

async function rateRow(subject: Subject, { method, what, least, of = 1 }: Rated): Promise<Row> {
  const compared = await compareInTurn(
    {
      product: () => calls(subject, method),
      baseline: () => calls(subject, 'echo'),
      ratioOf: (ours: RpcOutcome, theirs: RpcOutcome) => ours.perSecond / theirs.perSecond,
    },
    { rounds },
  )
  const { product, baseline, ratio } = compared
  return {
    what: `${what} by a script, ${sockets} sockets, ${subject.where}`,
    product: { value: product.perSecond * of, unit: '/s' },
    baseline: { name: 'RPC that echoes nothing', value: baseline.perSecond, unit: '/s' },
    ratio,
    bound: { of: 'value', is: 'at least', limit: least },
    notes: `${ratios(compared)}; ${shares(product)}; baseline ${shares(baseline)}`,
  }
}

async function walletRows(subject: Subject): Promise<Row[]> {
  const { port } = subject.server
  const ids = await createAccounts(port, await signInOperator(port), accounts)
  const compared = await compareInTurn(
    {
      product: () => calls(subject, 'adjust', ids.slice(0, 1)),
      baseline: () => calls(subject, 'adjust', ids),
      ratioOf: (hot: RpcOutcome, spread: RpcOutcome) => hot.perSecond / spread.perSecond,
    },
    { rounds },
  )
  const { product, baseline, ratio } = compared
  const what = `wallet.adjust of one wallet by a script, ${sockets} sockets, ${subject.where}`
  const value = { value: product.perSecond, unit: '/s' }
  const least: Bound = { of: 'value', is: 'at least', limit: 5000 }
  return [
    {
      what,
      product: value,
      baseline: { name: `${accounts} wallets`, value: baseline.perSecond, unit: '/s' },
      ratio,
      bound: { of: 'ratio', is: 'at least', limit: 0.5 },
      notes: `${ratios(compared)}; ${shares(product)}; baseline ${shares(baseline)}`,
    },
    { what: `${what}: rate`, product: value, bound: least },
  ]
}

/** Time of a transact of eight writes beside one write, one after the other. */
async function transactRow(subject: Subject): Promise<Row> {
  const alone = { ...subject, players: subject.players.slice(0, 1) }
  const compared = await compareInTurn(
    {
      product: () => calls(alone, 'transact'),
      baseline: () => calls(alone, 'write'),
      ratioOf: (eight: RpcOutcome, one: RpcOutcome) => one.perSecond / eight.perSecond,
    },
    { rounds },
  )
  const { product, baseline, ratio } = compared
  const row: Row = {
    what: `time of transact of 8 writes by a script, one at a time, ${subject.where}`,
    product: { value: 1000 / product.perSecond, unit: 'ms' },
    baseline: { name: 'storage_write', value: 1000 / baseline.perSecond, unit: 'ms' },
    ratio,
    notes: ratios(compared),
  }
  const bound: Bound = { of: 'ratio', is: 'at most', limit: 2 }
  return subject.where === 'SQLite file' ? { ...row, bound } : row
}

/** What a call of the node costs both processes, of one that has next to nothing to do. */
async function hostCallRow(subject: Subject): Promise<Row> {
  const compared = await compareInTurn(
    {
      product: () => calls(subject, 'online'),
      baseline: () => calls(subject, 'echo'),
      ratioOf: (ours: RpcOutcome, theirs: RpcOutcome) => (usOf(ours) - usOf(theirs)) / atOnce,
    },
    { rounds },
  )
  const { product, baseline, ratio, rounds: all } = compared
  return {
    what: `CPU of one host call, ${atOnce} in each call of a client, both processes`,
    product: { value: ratio, unit: 'µs' },
    baseline: { name: 'RPC that echoes nothing', value: usOf(baseline), unit: 'µs' },
    bound: { of: 'value', is: 'at most', limit: 10 },
    notes: `${all.map((each) => each.ratio.toFixed(1)).join(', ')}; ${shares(product)}`,
  }
}

function usOf({ perCpuSecond }: RpcOutcome): number {
  return 1_000_000 / perCpuSecond
}

function calls(
  { bench, server, players }: Subject,
  method: string,
  payloads: readonly string[] = [''],
): Promise<RpcOutcome> {
  const messages = payloads.map((payload) => rpcMessage(method, payload))
  let made = 0
  return runRpcLoad({
    server,
    clients: players,
    seconds: bench.seconds(1),
    areResponses: true,
    answerBytes: responseHeadBytes,
    message() {
      made += 1
      const message = messages[made % messages.length]
      if (message === undefined) throw new Error('there is a message')
      return message
    },
  })
}
