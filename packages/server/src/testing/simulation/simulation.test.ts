import { writeFileSync } from 'node:fs'
import { test } from 'vitest'
import { simulate } from './simulate.ts'

test('one', async () => {
  const from = Number(process.env.SEED ?? 1)
  for (let seed = from; seed < from + Number(process.env.SEEDS ?? 3); seed += 1) {
    const at = process.cpuUsage()
    const { violations, trace, faults } = await simulate({ seed, runMs: 60_000 })
    const used = process.cpuUsage(at)
    console.log(
      seed,
      trace.length,
      faults.length,
      Math.round(used.user / 1000),
      Math.round(used.system / 1000),
      'ms',
    )
    if (violations.length > 0) console.log(violations.slice(0, 12).join('\n'))
    if (violations.length > 0 || process.env.TRACE)
      writeFileSync(`/tmp/sim-${seed}.txt`, trace.join('\n'))
  }
}, 600_000)
