import type { LagWindow } from '@guildhall/contract'
import { expect, it } from 'vitest'
import { axisOf, startOf } from './lag-axis.ts'

function recorded(started_at_unix_us: number | null, fromUs: number, untilUs: number) {
  const window = {
    start_elapsed_us: fromUs,
    end_elapsed_us: untilUs,
    max_interarrival_us: 60_000,
  } as LagWindow
  return { report: { started_at_unix_us }, windows: [window] }
}

it('[L-CON-1] a recording without a clock begins where it is on the axis', () => {
  const clockless = recorded(null, 2_000_000, 9_000_000)
  const known = recorded(1_700_000_000_000_000, 500_000, 4_000_000)
  const axis = axisOf([known, clockless])
  expect(axis).toMatchObject({ fromUs: 1_700_000_000_500_000, untilUs: 1_700_000_009_000_000 })
  expect(startOf(clockless.report, axis) + 9_000_000).toBe(axis.untilUs)

  const alone = axisOf([clockless])
  expect(startOf(clockless.report, alone) + 2_000_000).toBe(alone.fromUs)
  expect(startOf(clockless.report, alone) + 9_000_000).toBe(alone.untilUs)
})
