import { encodeFrame, frameHeaderBytes } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { type Comparison, compareInTurn, ratios } from '../load/rounds.ts'
import { type RpcOutcome, responseHeadBytes, rpcMessage, runRpcLoad } from '../load/rpc-load.ts'
import { clientMessage, WebSocketClient } from '../load/websocket-client.ts'
import { shares } from '../load/window.ts'
import { startBaseline } from '../processes/baseline.ts'
import { openPlayers, startScripted } from '../processes/scripted.ts'

/** Calls of the game's script that compute nothing. */
export const echo: Benchmark = { name: 'echo', run }

const bareEcho = new URL('../baselines/bare-echo.ts', import.meta.url)
const sockets = 64
const rounds = 5
const payload = 'x'.repeat(32)
const answerBytes = responseHeadBytes + payload.length

async function run(bench: Bench): Promise<Row[]> {
  await using server = await startScripted(bench)
  await using bare = await startBaseline(bench, bareEcho)
  const players = await openPlayers(server, sockets)
  const plain: WebSocketClient[] = []
  for (let at = 0; at < sockets; at += 1) {
    plain.push(await WebSocketClient.open({ port: bare.port, path: '/' }))
  }
  const call = rpcMessage('echo', payload)
  const message = clientMessage(encodeFrame(1, Buffer.alloc(answerBytes - frameHeaderBytes, 'x')))
  const load = { answerBytes, seconds: bench.seconds(2) }
  const compared = (count: number) => {
    const [ours, theirs] = [players.slice(0, count), plain.slice(0, count)]
    const product = { ...load, server, clients: ours, message: () => call, areResponses: true }
    const baseline = { ...load, server: bare, clients: theirs, message: () => message }
    return compareInTurn(
      {
        product: () => runRpcLoad(product),
        baseline: () => runRpcLoad({ ...baseline, areResponses: false }),
        ratioOf: (a: RpcOutcome, b: RpcOutcome) => a.perCpuSecond / b.perCpuSecond,
      },
      { rounds },
    )
  }
  const many = rowOf(`${sockets} sockets, one call in flight each`, await compared(sockets))
  const alone = rowOf('one socket, one call in flight', await compared(1))
  return [{ ...many, bound: { of: 'ratio', is: 'at least', limit: 0.6 } }, alone]
}

function rowOf(what: string, compared: Comparison<RpcOutcome, RpcOutcome>): Row {
  const { product, baseline, ratio } = compared
  const unit = 'calls per CPU second'
  return {
    what: `RPC of the script that echoes, ${what}`,
    product: { value: product.perCpuSecond, unit },
    baseline: { name: 'a bare echo by ws', value: baseline.perCpuSecond, unit },
    ratio,
    notes:
      `${ratios(compared)}; ${Math.round(product.perSecond)}/s (${shares(product)}); ` +
      `baseline ${Math.round(baseline.perSecond)}/s (${shares(baseline)})`,
  }
}
