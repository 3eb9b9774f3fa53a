import { fileURLToPath } from 'node:url'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { type RpcOutcome, responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import { shares } from '../load/window.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'

/** Calls that compute nothing, by the language and tier of the script. */
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
  return scripts.slice(1).map(({ name, atLeast }) => {
    const product = measured.get(name) ?? baseline
    return rowOf(name, { product, baseline, atLeast })
  })
}

type Script = (typeof scripts)[number]

function start(bench: Bench, { folder: scriptsDir, tier }: Script) {
  return startScripted(bench, {
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
