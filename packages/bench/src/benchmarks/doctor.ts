import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { onBackends } from '../processes/backends.ts'
import { fillBoard } from '../processes/filled-board.ts'
import { runCommand } from '../processes/guildhall.ts'
import { startMeasured } from '../processes/measured.ts'

/** How long the doctor takes for a large store. */
export const doctor: Benchmark = { name: 'doctor', run }

const million = 1_000_000

async function run(bench: Bench): Promise<Row[]> {
  const rows = bench.count(million)
  return onBackends(bench, 'doctor.db', async ({ name, url }) => {
    if (name === 'in memory') return []
    await (await startMeasured(bench, 'node', { url, seeds: { accounts: rows } })).stop()
    await fillBoard(bench, { url, records: rows })
    const ms = await runCommand(bench, ['doctor'], { 'database.url': url })
    return [
      {
        what: `doctor on ${rows} accounts and a board of ${rows}, ${name}`,
        product: { value: ms / 1000, unit: 's' },
        bound: { of: 'value', is: 'at most', limit: 30 },
      },
    ]
  })
}
