import { storageFeature } from '../../features/storage/storage.feature.ts'
import { atEndOfTurn } from '../../kernel/clock.ts'
import { type MeasuredOptions, openDeployment } from './deployment.ts'

/**
 * Reads and writes of stored objects of 1 KiB in process, as scripts do them, for the benchmarks.
 * Every write changes its object. Prints what was done per second, of each round in turn, and what
 * CPU time of this process a call took, in microseconds; of each round the first third only warms
 * up.
 */
type Options = MeasuredOptions & {
  objects: number
  inFlight: number
  rounds: number
  secondsPerRound: number
}
const options: Options = JSON.parse(process.argv[2] ?? '')
const { shared, audit } = await openDeployment(options)
const { db, clock } = shared
const { runtime } = storageFeature({
  ...shared,
  mutate: audit.mutate,
  mutateMany: audit.mutateMany,
})

const filler = 'x'.repeat(85)
let written = 0

const writes: Measured[] = []
const reads: Measured[] = []
await Promise.all(Array.from({ length: options.objects }, (_, at) => write(at)))
for (let round = 0; round < options.rounds; round += 1) {
  writes.push(await measure(write))
  reads.push(await measure((at) => runtime.read(place(at))))
}
const list = (of: readonly Measured[], figure: keyof Measured) =>
  of.map((each) => each[figure].toFixed(1)).join()
process.stdout.write(
  `ready writes=${list(writes, 'perSecond')} reads=${list(reads, 'perSecond')}` +
    ` write_cpu=${list(writes, 'cpuUs')} read_cpu=${list(reads, 'cpuUs')}\n`,
)
await db.close()

type Measured = { perSecond: number; cpuUs: number }

function place(at: number) {
  // A prime, so that neighbours are not asked for one after another.
  const number = (at * 7919) % options.objects
  return { owner: `user-${number % 100}`, collection: 'saves', key: `slot-${number}` }
}

/** An object of 1,024 bytes, give or take the digits of its number. */
function write(at: number) {
  written += 1
  const value: Record<string, string | number> = { revision: written }
  for (let field = 0; field < 10; field += 1) value[`field_${field}`] = filler
  return runtime.write({ ...place(at), value })
}

/** Calls per second with so many in flight. */
async function measure(call: (at: number) => Promise<unknown>): Promise<Measured> {
  let done = 0
  let isOver = false
  const callers = Array.from({ length: options.inFlight }, async (_, at) => {
    for (let next = at; !isOver; next += options.inFlight) {
      await call(next)
      done += 1
      // As if the next one came from elsewhere: a read by itself never leaves its turn.
      await new Promise<void>((resolve) => atEndOfTurn(resolve))
    }
  })
  await clock.sleep((options.secondsPerRound * 1000) / 3)
  const start = { done, ms: clock.monotonicMs(), usage: process.cpuUsage() }
  await clock.sleep((options.secondsPerRound * 2000) / 3)
  const calls = done - start.done
  const passedMs = clock.monotonicMs() - start.ms
  const { user, system } = process.cpuUsage(start.usage)
  isOver = true
  await Promise.all(callers)
  return { perSecond: (calls * 1000) / passedMs, cpuUs: (user + system) / calls }
}
