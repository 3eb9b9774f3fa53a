import type { Clock } from '../../kernel/clock.ts'
import { renderMetrics } from '../../kernel/metrics/exposition.ts'
import { histogramFamily } from '../../kernel/metrics/metric-family.ts'
import { createDatabaseMetrics } from './database-metrics.ts'
import { createHttpMetrics } from './http-metrics.ts'
import { type NodeReadings, nodeFamilies } from './node-metrics.ts'
import { processFamilies } from './process-metrics.ts'

export type Instruments = ReturnType<typeof createInstruments>

/** What stands before the name of every metric. */
const prefix = 'guildhall_'

const lagBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const hashBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const callBounds = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10]
const passBounds = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 60]
const waitBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
const scrapeBounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** Everything that is measured while the node works; made only where metrics are served. */
export function createInstruments(clock: Pick<Clock, 'monotonicMs'>) {
  const http = createHttpMetrics()
  const database = createDatabaseMetrics(clock)
  const eventLoop = histogramFamily(
    { name: 'event_loop_lag_seconds', help: 'How late the event loop does what is due.' },
    lagBounds,
  )
  const hashing = histogramFamily(
    { name: 'password_hash_duration_seconds', help: 'Time of one password hash.' },
    hashBounds,
  )
  const calls = histogramFamily(
    { name: 'script_call_duration_seconds', help: 'Time of script handlers, waits included.' },
    callBounds,
    ['hook'],
  )
  const passes = histogramFamily(
    { name: 'scheduler_pass_duration_seconds', help: 'Time of one run of a background task.' },
    passBounds,
    ['job'],
  )
  const waits = histogramFamily(
    { name: 'matchmaker_wait_seconds', help: 'How long matched tickets had waited.' },
    waitBounds,
  )
  const scrapes = histogramFamily(
    { name: 'metrics_scrape_duration_seconds', help: 'Time to make this page.' },
    scrapeBounds,
  )
  const measured = [
    ...http.families,
    eventLoop.family,
    hashing.family,
    ...database.families,
    calls.family,
    passes.family,
    waits.family,
    scrapes.family,
  ]
  const familiesOf = (read: () => NodeReadings) => [
    ...nodeFamilies(read),
    ...processFamilies(),
    ...measured,
  ]
  return {
    observeDatabase: database.observe,
    recordRequest: http.record,
    observeLag: (lagMs: number) => eventLoop.observe(lagMs / 1000),
    observeHash: (durationMs: number) => hashing.observe(durationMs / 1000),
    observeCall: (hook: string, durationMs: number) => calls.observe(durationMs / 1000, hook),
    observePass: (job: string, durationMs: number) => passes.observe(durationMs / 1000, job),
    observeWait: (waitedMs: number) => waits.observe(waitedMs / 1000),
    /** The page in the Prometheus text format, with the readings of this moment. */
    render(read: () => NodeReadings): string {
      const startMs = clock.monotonicMs()
      const page = renderMetrics(familiesOf(read), prefix)
      scrapes.observe((clock.monotonicMs() - startMs) / 1000)
      return page
    },
    /** Name, type, labels and help of every metric, for the manual. */
    describe: (read: () => NodeReadings) =>
      familiesOf(read).map(({ name, type, labels, help }) => {
        return { name: prefix + name, type, labels, help }
      }),
  }
}
