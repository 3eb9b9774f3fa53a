import type { Row } from '../benchmark.ts'
import type { Child } from '../processes/child.ts'
import { type EchoOutcome, type EchoPeer, echoBytes, runEchoes } from './echo-load.ts'
import { type Comparison, compareInTurn, ratios } from './rounds.ts'
import { shares } from './window.ts'

const connections = 64

type Side = { server: Child; peers: readonly EchoPeer[] }
type Sides = { ours: Side; theirs: Side; what: string; name: string; seconds: number }
type How = { inFlight: number; rounds?: number; limit?: number | undefined }

/** As many as a comparison has on each side. */
export async function openPeers(one: () => Promise<EchoPeer>): Promise<EchoPeer[]> {
  const opened: EchoPeer[] = []
  for (let at = 0; at < connections; at += 1) opened.push(await one())
  return opened
}

/** Messages to the game's script and back, in turn on both sides. */
export async function compareEchoes(sides: Sides, how: How): Promise<Row> {
  const { ours, theirs, seconds } = sides
  const { inFlight, rounds = 5 } = how
  const compared = await compareInTurn(
    {
      product: () => runEchoes(ours, { inFlight, seconds }),
      baseline: () => runEchoes(theirs, { inFlight, seconds }),
      ratioOf: (one: EchoOutcome, other: EchoOutcome) => one.perCpuSecond / other.perCpuSecond,
    },
    { rounds },
  )
  return echoRow(compared, sides, how)
}

function echoRow(
  compared: Comparison<EchoOutcome, EchoOutcome>,
  { what, name }: Sides,
  { inFlight, limit }: How,
): Row {
  const { product, baseline, ratio } = compared
  const unit = 'echoes per CPU second'
  const load = `${connections} connections, ${inFlight} in flight`
  return {
    what: `${echoBytes} bytes to the script and back ${what}, ${load}`,
    product: { value: product.perCpuSecond, unit },
    baseline: { name, value: baseline.perCpuSecond, unit },
    ratio,
    ...(limit === undefined ? {} : { bound: { of: 'ratio', is: 'at least', limit } }),
    notes:
      `${ratios(compared)}; ${Math.round(product.perSecond)}/s (${shares(product)}); ` +
      `baseline ${Math.round(baseline.perSecond)}/s (${shares(baseline)}); lost ${product.lost}`,
  }
}
