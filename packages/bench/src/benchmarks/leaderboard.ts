import type { Bench, Benchmark, Bound, Row } from '../benchmark.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import type { Child } from '../processes/child.ts'
import { startMeasured } from '../processes/measured.ts'

/** One board with a million records, in process, beside what an index alone does. */
export const leaderboard: Benchmark = { name: 'leaderboard', run }

const million = 1_000_000
const inFlight = 64
/** The time of one is measured with fewer, which wait less for each other. */
const fewInFlight = 16

/** Per second; on PostgreSQL every one of them is a round trip. */
const works = [
  { name: 'rank of one owner', fact: 'rank', plain: 0, embedded: 15_000, postgres: 8000 },
  { name: 'first page of 100', fact: 'first', plain: undefined, embedded: 5000, postgres: 3000 },
  { name: 'page of 100 in the middle', fact: 'middle', plain: 1, embedded: 5000, postgres: 3000 },
  { name: 'submission', fact: 'submit', plain: undefined, embedded: 10_000, postgres: 6000 },
] as const

function run(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'leaderboard.db', (backend) => measureOn(bench, backend))
}

async function measureOn(bench: Bench, backend: MeasuredBackend): Promise<Row[]> {
  const { name, url } = backend
  const records = bench.count(million)
  const options = { url, records, inFlight, fewInFlight, seconds: bench.seconds(15) }
  await using program = await startMeasured(bench, 'leaderboards', options)
  const isEmbedded = name !== 'PostgreSQL'
  const rows = works.flatMap((work) => {
    const what = `${work.name} of ${records} records`
    const limit = isEmbedded ? work.embedded : work.postgres
    return rowsOf(program, { ...work, what, backend: name, limit, isEmbedded })
  })
  if (name === 'in memory') return rows
  const atMost = (limit: number): Bound => ({ of: 'value', is: 'at most', limit })
  return [
    ...rows,
    {
      what: `from opening the database to the first right rank, ${name}`,
      product: { value: numberOf(program, 'restart'), unit: 'ms' },
      bound: atMost(2000),
    },
    {
      what: `growth of the resident memory while all of this ran, per record, ${name}`,
      product: { value: numberOf(program, 'resident'), unit: 'bytes' },
      bound: atMost(150),
    },
  ]
}

type Work = {
  what: string
  backend: string
  fact: string
  plain: 0 | 1 | undefined
  limit: number
  isEmbedded: boolean
}

function rowsOf(program: Child, { what, backend, fact, plain, limit, isEmbedded }: Work): Row[] {
  const [perSecond = Number.NaN, p50, p99 = Number.NaN, perCpuSecond] = figuresOf(program, fact)
  const notes = `median ${p50?.toFixed(3)} ms; ${perCpuSecond?.toFixed(0)} per CPU second`
  const rate: Row = {
    what: `${what}, ${inFlight} in flight, ${backend}`,
    product: { value: perSecond, unit: '/s' },
    bound: { of: 'value', is: 'at least', limit },
    notes,
  }
  if (plain !== undefined) {
    const value = 1000 / (figuresOf(program, 'plain')[plain] ?? Number.NaN)
    rate.baseline = { name: 'an index alone, one at a time', value, unit: '/s' }
    rate.ratio = perSecond / value
  }
  const isRead = fact !== 'submit'
  if (!isEmbedded || !isRead) return [rate]
  return [
    rate,
    {
      what: `p99 of the ${what}, ${fewInFlight} in flight, ${backend}`,
      product: { value: p99, unit: 'ms' },
      bound: { of: 'value', is: 'at most', limit: 5 },
    },
  ]
}

function figuresOf(program: Child, fact: string): number[] {
  return program.fact(fact).split(',').map(Number)
}

function numberOf(program: Child, fact: string): number {
  return Number(program.fact(fact))
}
