import type { Bench } from '../benchmark.ts'
import type { MeasuredBackend } from './backends.ts'
import type { Child } from './child.ts'
import { startGuildhall } from './guildhall.ts'
import { type Seeds, startMeasured } from './measured.ts'

/**
 * A node whose database begins with so many rows: the product on a database that was filled before,
 * and in memory, which only its own process can fill, the same sections without background tasks.
 */
export async function startFilled(
  bench: Bench,
  { name, url }: MeasuredBackend,
  seeds: Seeds,
): Promise<Child> {
  const filler = await startMeasured(bench, 'node', { url, seeds })
  if (name === 'in memory') return filler
  await filler.stop()
  return startGuildhall(bench, { keys: { 'database.url': url }, on: 'both' })
}
