import { cpSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { envelopeBytesMax, FrameDecoder, kinds, rpcResponseBody } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { enterRoom, openGuest } from '../load/player.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
import { type RpcOutcome, responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import type { WebSocketClient } from '../load/websocket-client.ts'
import type { Child } from '../processes/child.ts'
import { startGuildhall } from '../processes/guildhall.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'
import { median, percentile } from '../statistics.ts'

/** A script that is changed while its rooms tick, and what its on_start costs calls. */
export const reload: Benchmark = { name: 'reload', run }

const game = fileURLToPath(new URL('../../game-reload', import.meta.url))
const rooms = 100
const tickHz = 20
/** As `guildhall dev` looks at the files, and a call of a player this often meanwhile. */
const pollMs = 100
const callEveryMs = 10
/** Of the comparison with a script without on_start. */
const sockets = 64
const gateRounds = 11

async function run(bench: Bench): Promise<Row[]> {
  return [...(await reloads(bench)), await gate(bench)]
}

/**
 * What calls pay for waiting until on_start has run. Of nodes of one script the one may be faster
 * than the other for its whole life: so there are two of each kind, and each rests while one works.
 */
async function gate(bench: Bench): Promise<Row> {
  const echo = `guildhall.on_rpc('echo', (_ctx, body) => body)`
  const script = (text: string) => {
    const folder = mkdtempSync(join(bench.folder, 'game-'))
    writeFileSync(join(folder, 'main.ts'), text)
    // Only one of them would have the port of QUIC.
    const keys = { 'runtime.scripts_dir': folder, 'transport.quic.enabled': false }
    return startScripted(bench, { keys })
  }
  const gated = `guildhall.on_start(() => {})\n${echo}`
  await using first = await script(gated)
  await using second = await script(echo)
  await using third = await script(echo)
  await using fourth = await script(gated)
  const call = rpcMessage('echo', '')
  const load = { message: () => call, answerBytes: responseHeadBytes, areResponses: true }
  const seconds = bench.seconds(0.75)
  const sideOf = async (...servers: Child[]) => {
    const sides = await Promise.all(
      servers.map(async (server) => ({ server, clients: await openPlayers(server, sockets) })),
    )
    return async () => {
      const outcomes: RpcOutcome[] = []
      for (const side of sides) outcomes.push(await runRpcLoad({ ...load, ...side, seconds }))
      return sumOf(outcomes)
    }
  }
  const [product, baseline] = [await sideOf(first, fourth), await sideOf(second, third)]
  const compared = await compareInTurn(
    { product, baseline, ratioOf: (ours, theirs) => ours.perCpuSecond / theirs.perCpuSecond },
    { rounds: gateRounds, warmUps: 2 },
  )
  const unit = 'calls per CPU second'
  return {
    what: `an empty RPC of a script with on_start, ${sockets} sockets`,
    product: { value: compared.product.perCpuSecond, unit },
    baseline: { name: 'without on_start', value: compared.baseline.perCpuSecond, unit },
    ratio: compared.ratio,
    bound: { of: 'ratio', is: 'at least', limit: 0.98 },
    notes: ratios(compared),
  }
}

/** Of both nodes of a kind. */
function sumOf(outcomes: readonly RpcOutcome[]): { perCpuSecond: number } {
  const calls = outcomes.reduce((sum, { perSecond, seconds }) => sum + perSecond * seconds, 0)
  return { perCpuSecond: (calls * 1000) / outcomes.reduce((sum, { cpuMs }) => sum + cpuMs, 0) }
}

async function reloads(bench: Bench): Promise<Row[]> {
  const folder = mkdtempSync(join(bench.folder, 'game-'))
  cpSync(game, folder, { recursive: true })
  const count = Math.max(2, bench.count(10))
  await using server = await startGuildhall(bench, {
    keys: {
      'runtime.scripts_dir': folder,
      'runtime.tick_hz': tickHz,
      'runtime.hot_reload': true,
      'runtime.hot_reload_poll_ms': pollMs,
    },
  })
  for (let n = 0; n < rooms; n += 1) {
    const member = await openGuest(server.port)
    await enterRoom(member, `room-${n}`)
    member.onPayload = () => {}
  }
  const player = await openGuest(server.port)
  const call = callerOf(player)
  const skippedBefore = await skippedTicks(server)
  const swapsMs: number[] = []
  const callsMs: number[] = []
  for (let version = 1; version <= count; version += 1) {
    swapsMs.push(await change(folder, version, (wanted) => callUntil(call, wanted, callsMs)))
    await sleep(1_000)
  }
  player.close()
  const skipped = (await skippedTicks(server)) - skippedBefore
  const what = `of a script with ${rooms} rooms at ${tickHz} Hz`
  return [
    {
      what: `from a saved file to the first call of it, ${what}`,
      product: { value: median(swapsMs), unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: 1_000 },
      notes: `median of ${count}, at most ${Math.max(...swapsMs).toFixed(0)} ms`,
    },
    {
      what: `p99 of an RPC meanwhile, ${what}`,
      product: { value: percentile(callsMs, 0.99), unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: 100 },
      notes: `${callsMs.length} calls`,
    },
    {
      // The one that is due while a script hands over.
      what: `ticks skipped in ${count} reloads ${what}`,
      product: { value: skipped, unit: 'ticks' },
      bound: { of: 'value', is: 'at most', limit: count },
    },
  ]
}

/** Saves the script with another version, as editors do; answers how long it took to serve. */
async function change(
  folder: string,
  version: number,
  served: (version: string) => Promise<void>,
): Promise<number> {
  const at = join(folder, 'main.ts')
  const text = readFileSync(at, 'utf8').replace(/const version = \d+/, `const version = ${version}`)
  writeFileSync(`${at}~`, text)
  const startMs = performance.now()
  renameSync(`${at}~`, at)
  await served(String(version))
  return performance.now() - startMs
}

type Call = () => Promise<string>

/** Asks for the version, one call at a time; all that the connection hears goes through here. */
function callerOf(client: WebSocketClient): Call {
  const decoder = new FrameDecoder(envelopeBytesMax)
  const request = rpcMessage('version', '')
  let answered = (_text: string): void => {}
  client.onPayload = (piece) => {
    decoder.push(Buffer.from(piece))
    for (let next = decoder.next(); next; next = decoder.next()) {
      if (next.kind !== kinds.RPC_RESPONSE.first) continue
      answered(new TextDecoder().decode(rpcResponseBody.decode(next.body).payload))
    }
  }
  return () =>
    new Promise((resolve) => {
      answered = resolve
      client.write(request)
    })
}

async function callUntil(call: Call, version: string, callsMs: number[]): Promise<void> {
  for (;;) {
    const startMs = performance.now()
    const answer = await call()
    callsMs.push(performance.now() - startMs)
    if (answer === version) return
    await sleep(callEveryMs)
  }
}

async function skippedTicks({ port }: Child): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/status`)
  const [, ticks] = /"script_ticks_skipped_total":(\d+)/.exec(await answer.text()) ?? []
  if (ticks === undefined) throw new Error('the node does not say how many ticks it has skipped')
  return Number(ticks)
}
