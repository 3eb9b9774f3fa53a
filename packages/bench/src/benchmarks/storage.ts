import { join } from 'node:path'
import type { Bench, Benchmark, Bound, Row } from '../benchmark.ts'
import { type MeasuredBackend, onBackends } from '../processes/backends.ts'
import { startBaseline } from '../processes/baseline.ts'
import type { Child } from '../processes/child.ts'
import { startMeasured } from '../processes/measured.ts'
import { median } from '../statistics.ts'

/** Reads and writes of stored objects of 1 KiB, beside bare statements of the same engine. */
export const storedObjects: Benchmark = { name: 'storage', run }

const baseline = new URL('../baselines/single-row-objects.ts', import.meta.url)
const inFlight = 64
const objects = 10_000
const rounds = 5
const poolConnections = 10

/** Per second, in process: HTTP would hide what the service costs. */
const limits = {
  'in memory': undefined,
  'SQLite file': { writes: 10_000, reads: 20_000 },
  PostgreSQL: { writes: 6000, reads: 15_000 },
} as const

function run(bench: Bench): Promise<Row[]> {
  return onBackends(bench, 'storage.db', (backend) => measure(bench, backend))
}

async function measure(bench: Bench, { name, url }: MeasuredBackend): Promise<Row[]> {
  const secondsPerRound = bench.seconds(3)
  const bare = await bareFigures(bench, name, url)
  const options = { url, objects, inFlight, rounds, secondsPerRound }
  await using program = await startMeasured(bench, 'objects', options)
  return (['writes', 'reads'] as const).map((what): Row => {
    const all = figuresOf(program, what)
    const product = { value: median(all), unit: `${what}/s` }
    const limit = limits[name]?.[what]
    const bound: Bound | undefined = limit && { of: 'value', is: 'at least', limit }
    const cpuUs = median(figuresOf(program, what === 'writes' ? 'write_cpu' : 'read_cpu'))
    return {
      what: `${what} of 1 KiB objects in process, ${inFlight} in flight, ${name}`,
      product,
      baseline: { name: 'bare single-row statements', value: bare[what], unit: `${what}/s` },
      ratio: product.value / bare[what],
      ...(bound && { bound }),
      notes: `${cpuUs.toFixed(0)} us of CPU each; rounds ${all.map(Math.round).join(', ')}`,
    }
  })
}

async function bareFigures(bench: Bench, name: MeasuredBackend['name'], url: string) {
  const own = name === 'SQLite file' ? join(bench.folder, 'bare-objects.db') : url
  const seconds = [bench.seconds(1), bench.seconds(5)]
  const args = [own, objects, poolConnections, inFlight, ...seconds].map(String)
  await using program = await startBaseline(bench, baseline, { args, on: 'both' })
  return { writes: Number(program.fact('writes')), reads: Number(program.fact('reads')) }
}

function figuresOf(program: Child, name: string): number[] {
  return program.fact(name).split(',').map(Number)
}
