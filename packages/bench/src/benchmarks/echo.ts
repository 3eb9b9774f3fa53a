import { encodeFrame, frameHeaderBytes } from '@guildhall/contract'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { compareInTurn, ratios } from '../load/rounds.ts'
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
  const compared = await compareInTurn(
    {
      product: () =>
        runRpcLoad({ ...load, server, clients: players, message: () => call, areResponses: true }),
      baseline: () =>
        runRpcLoad({
          ...load,
          server: bare,
          clients: plain,
          message: () => message,
          areResponses: false,
        }),
      ratioOf: (ours: RpcOutcome, theirs: RpcOutcome) => ours.perCpuSecond / theirs.perCpuSecond,
    },
    { rounds },
  )
  const { product, baseline, ratio } = compared
  const unit = 'calls per CPU second'
  return [
    {
      what: `RPC of the script that echoes, ${sockets} sockets, one call in flight each`,
      product: { value: product.perCpuSecond, unit },
      baseline: { name: 'a bare echo by ws', value: baseline.perCpuSecond, unit },
      ratio,
      bound: { of: 'ratio', is: 'at least', limit: 0.6 },
      notes:
        `${ratios(compared)}; ${Math.round(product.perSecond)}/s (${shares(product)}); ` +
        `baseline ${Math.round(baseline.perSecond)}/s (${shares(baseline)})`,
    },
  ]
}
