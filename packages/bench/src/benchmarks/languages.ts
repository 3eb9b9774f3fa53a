import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { frameHeaderBytes } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { naiveRelay, scriptTraffic } from '../load/naive-relay-load.ts'
import { enterRoom } from '../load/player.ts'
import { type RelayOutcome, runRelayLoad } from '../load/relay-load.ts'
import { type RpcOutcome, responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import { shares } from '../load/window.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'
import { median } from '../statistics.ts'

/** Calls that compute nothing, a chat, and starts, by the language and tier of the script. */
export const languages: Benchmark = { name: 'languages', run }

const folder = (name: string) =>
  fileURLToPath(new URL(`../../game-languages/${name}`, import.meta.url))

const scripts = [
  { name: 'trusted JavaScript', folder: folder('javascript'), tier: 'trusted', atLeast: 0 },
  {
    name: 'sandboxed JavaScript',
    folder: folder('javascript'),
    tier: 'sandboxed',
    atLeast: 50_000,
  },
  { name: 'Lua', folder: folder('lua'), tier: 'trusted', atLeast: 100_000 },
  { name: 'Python', folder: folder('python'), tier: 'trusted', atLeast: 50_000 },
] as const

const sockets = 512
const payload = ''

type Measured = RpcOutcome & {
  /** Of the script's process alone. */
  perScriptCpuSecond: number
  readyMs: number
  scriptBytes: number
}

async function run(bench: Bench): Promise<Row[]> {
  // An image that the first start of a language makes is not what a start takes.
  for (const script of scripts) await (await start(bench, script)).stop()
  const measured = new Map<string, Measured>()
  for (const script of scripts) measured.set(script.name, await measure(bench, script))
  const baseline = measured.get(scripts[0].name)
  if (baseline === undefined) throw new Error('the baseline was not measured')
  const calls = scripts.slice(1).map(({ name, atLeast }) => {
    const product = measured.get(name) ?? baseline
    return rowOf(name, { product, baseline, atLeast })
  })
  return [...calls, ...(await chats(bench)), await imageRow(bench)]
}

type Script = (typeof scripts)[number]

function start(bench: Bench, { folder: scriptsDir, tier }: Script, env = {}) {
  return startScripted(bench, {
    env,
    keys: { 'runtime.scripts_dir': scriptsDir, 'runtime.tier': tier },
  })
}

async function measure(bench: Bench, script: Script): Promise<Measured> {
  await using server = await start(bench, script)
  const clients = await openPlayers(server, sockets)
  const call = rpcMessage('echo', payload)
  const answerBytes = responseHeadBytes + payload.length
  const load = { server, clients, message: () => call, answerBytes, areResponses: true }
  const outcome = await runRpcLoad({ ...load, seconds: bench.seconds(4) })
  const { startedCpuMs, perSecond, seconds } = outcome
  return {
    ...outcome,
    perScriptCpuSecond: (perSecond * seconds * 1000) / startedCpuMs,
    readyMs: server.readyMs,
    scriptBytes: server.startedResidentBytes(),
  }
}

type Compared = { product: Measured; baseline: Measured; atLeast: number }

function rowOf(name: string, { product, baseline, atLeast }: Compared): Row {
  const unit = 'calls per CPU second of the script'
  const megabytes = (product.scriptBytes - baseline.scriptBytes) / 1_000_000
  const laterMs = product.readyMs - baseline.readyMs
  return {
    what: `An empty RPC in ${name}, ${sockets} sockets`,
    product: { value: product.perScriptCpuSecond, unit },
    baseline: { name: 'trusted JavaScript', value: baseline.perScriptCpuSecond, unit },
    ratio: product.perScriptCpuSecond / baseline.perScriptCpuSecond,
    bound: { of: 'value', is: 'at least', limit: atLeast },
    notes:
      `${Math.round(product.perCpuSecond)} per CPU second of both processes, against ` +
      `${Math.round(baseline.perCpuSecond)} (${shares(product)}); ` +
      `ready ${laterMs.toFixed(0)} ms and ${megabytes.toFixed(0)} MB above it`,
  }
}

const chatOf = (name: string) =>
  fileURLToPath(new URL(`../../../../examples/chat-relay/${name}`, import.meta.url))

const { players, groupSize } = naiveRelay

/** The example of a chat in each language, under the traffic of `relay` in rooms. */
async function chats(bench: Bench): Promise<Row[]> {
  const theirs = await chatIn(bench, 'game')
  const rows: Row[] = []
  for (const { name, language, bound } of chatGames) {
    const ours = await chatIn(bench, name)
    const ratio = ours.perCpuSecond / theirs.perCpuSecond
    const unit = 'deliveries per CPU second'
    rows.push({
      what: `chat relay in ${language}, ${players} players in rooms of ${groupSize}`,
      product: { value: ours.perCpuSecond, unit },
      baseline: { name: 'TypeScript', value: theirs.perCpuSecond, unit },
      ratio,
      ...(bound === undefined ? {} : { bound: { of: 'ratio', is: 'at least', limit: bound } }),
      notes: `${shares(ours)}; TypeScript ${shares(theirs)}`,
    })
  }
  return rows
}

const chatGames: readonly { name: string; language: string; bound?: number }[] = [
  { name: 'lua', language: 'Lua', bound: 0.4 },
  { name: 'python', language: 'Python' },
]

/** The script puts the sender's id before what it passes on. */
const senderBytes = 8

async function chatIn(bench: Bench, name: string): Promise<RelayOutcome> {
  await using server = await startScripted(bench, { keys: { 'runtime.scripts_dir': chatOf(name) } })
  const clients = await openPlayers(server, players)
  for (const [index, client] of clients.entries()) {
    await enterRoom(client, `room-${Math.floor(index / groupSize)}`)
  }
  const deliveryBytes = frameHeaderBytes + senderBytes + scriptTraffic.bodyBytes
  const load = { ...scriptTraffic, deliveryBytes, server, players: clients }
  return await runRelayLoad({ ...load, seconds: bench.seconds(4) })
}

/** How much later a node with Python is ready, with the image of the first start and without. */
async function imageRow(bench: Bench): Promise<Row> {
  const [javascript, , , python] = scripts
  // A folder that cannot be made takes no image.
  const nowhere = { XDG_CACHE_HOME: join(javascript.folder, 'main.js') }
  const rounds = { with: [] as number[], without: [] as number[], baseline: [] as number[] }
  for (let round = 0; round < bench.count(5); round += 1) {
    rounds.baseline.push(await readyMs(bench, javascript))
    rounds.with.push(await readyMs(bench, python))
    rounds.without.push(await readyMs(bench, python, nowhere))
  }
  const later = (times: readonly number[]) => median(times) - median(rounds.baseline)
  const value = later(rounds.with)
  const without = later(rounds.without)
  return {
    what: 'ready line of a node with Python, later than with trusted JavaScript',
    product: { value, unit: 'ms' },
    baseline: { name: 'without the image', value: without, unit: 'ms' },
    ratio: value / without,
    bound: { of: 'value', is: 'at most', limit: 1_200 },
    notes: `median of ${rounds.with.length}`,
  }
}

async function readyMs(bench: Bench, script: Script, env = {}): Promise<number> {
  const server = await start(bench, script, env)
  await server.stop()
  return server.readyMs
}
