import { createAccounts } from '../../features/accounts/accounts.service.ts'
import { createWallets } from '../../features/wallet/wallet.service.ts'
import { bySystem } from '../../kernel/mutation.ts'
import { type MeasuredOptions, openDeployment } from './deployment.ts'
import { seed, seededAccount } from './seeds.ts'

/**
 * Adjustments of wallets in process, without HTTP, for the benchmarks. Prints what was done per
 * second and what CPU time that took, first spread over all accounts and then on one of them, as
 * often as there are rounds; of each round the first third only warms up.
 */
type Options = MeasuredOptions & {
  accounts: number
  inFlight: number
  rounds: number
  secondsPerRound: number
}
const options: Options = JSON.parse(process.argv[2] ?? '')
const { shared, audit } = await openDeployment(options)
const { db, clock, config } = shared
await seed(db, { accounts: options.accounts })
const wallets = createWallets({
  db,
  clock,
  config: config.wallet,
  mutateMany: audit.mutateMany,
  accountExists: createAccounts(shared).exists,
})

const ids = Array.from({ length: options.accounts }, (_, at) => seededAccount(at + 1))
type Figures = { perSecond: number; cpuUs: number }
const spread: Figures[] = []
const hot: Figures[] = []
for (let round = 0; round < options.rounds; round += 1) {
  spread.push(await measure(ids))
  hot.push(await measure(ids.slice(0, 1)))
}
const listOf = (all: readonly Figures[], name: keyof Figures) =>
  all.map((each) => each[name]).join()
const line =
  `ready spread=${listOf(spread, 'perSecond')} spread_cpu_us=${listOf(spread, 'cpuUs')} ` +
  `hot=${listOf(hot, 'perSecond')} hot_cpu_us=${listOf(hot, 'cpuUs')}`
process.stdout.write(`${line}\n`)
await db.close()

/** Adjustments per second with so many in flight, and the CPU time of this process for each. */
async function measure(users: readonly string[]): Promise<Figures> {
  let done = 0
  let isOver = false
  const adjusters = Array.from({ length: options.inFlight }, async (_, at) => {
    for (let next = at; !isOver; next += options.inFlight) {
      const user_id = users[next % users.length] ?? ''
      await wallets.book(bySystem, { user_id, currency: 'gold', delta: 1n })
      done += 1
    }
  })
  await clock.sleep((options.secondsPerRound * 1000) / 3)
  const start = { done, ms: clock.monotonicMs(), cpu: process.cpuUsage() }
  await clock.sleep((options.secondsPerRound * 2000) / 3)
  const perSecond = ((done - start.done) * 1000) / (clock.monotonicMs() - start.ms)
  const { user, system } = process.cpuUsage(start.cpu)
  const cpuUs = (user + system) / (done - start.done)
  isOver = true
  await Promise.all(adjusters)
  return { perSecond, cpuUs }
}
