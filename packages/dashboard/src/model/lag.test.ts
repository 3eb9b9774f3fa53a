import type { LagSummary } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { besideOf, captureCursor, kindsOf, spacingText, verdictOf } from './lag.ts'

function summary(ms: { p50: number; p99: number; max: number }, more: Partial<LagSummary> = {}) {
  return {
    key: {
      participant: 1,
      packet_kind: 100,
      direction: 'inbound',
      delivery: 'reliable',
      gameplay_epoch: 0,
    },
    quality: 'ok',
    p50_interarrival_us: ms.p50 * 1000,
    p99_interarrival_us: ms.p99 * 1000,
    max_interarrival_us: ms.max * 1000,
    ...more,
  } as LagSummary
}

const even = summary({ p50: 50, p99: 60, max: 90 })
const stalled = summary({ p50: 50, p99: 55, max: 600 })
const stuttered = summary({ p50: 50, p99: 180, max: 190 })

describe('[L-SRV-1] whose lag it is', () => {
  it.each([
    ['even', [even], [even]],
    ['even', [even], null],
    ['way', [stalled], [even]],
    ['way', [stuttered], [even]],
    ['node', [stalled], [stalled]],
    ['node', [stuttered], [stuttered]],
    ['both', [stalled], [stuttered]],
    ['node_unknown', [stalled], null],
    ['node_unknown', [stalled], []],
    ['no_data', [], [even]],
    ['too_few', [{ ...stalled, quality: 'few_samples' as const }], [even]],
  ] as const)('is %s', (verdict, summaries, server) => {
    const sides = { summaries: [...summaries], server: server && [...server] }
    expect(verdictOf(sides)).toBe(verdict)
  })

  it('compares the same kind and direction, of the same lane if there is one', () => {
    const other = { ...even, key: { ...even.key, packet_kind: 2 } }
    const datagram = { ...even, key: { ...even.key, delivery: 'datagram' as const } }
    expect(besideOf(even, [other])).toBeUndefined()
    expect(besideOf(even, [other, datagram])).toBe(datagram)
    expect(besideOf(even, [datagram, even])).toBe(even)
  })
})

it('[L-CON-3] a list behind the cursor begins with the capture itself', () => {
  expect(captureCursor(`${'0'.repeat(31)}f`)).toBe(`${'0'.repeat(30)}10`)
  expect(captureCursor('019ab3c4d5e6f7a8b9cadbecfd0e1f2a')).toBe('019ab3c4d5e6f7a8b9cadbecfd0e1f2b')
})

it('[L-START-3] kinds are typed as numbers with commas', () => {
  expect(kindsOf('100, 2,100')).toEqual([100, 2])
  for (const text of ['', 'x', '1,,2', '-1', '65536', '1.5']) expect(kindsOf(text)).toBeUndefined()
})

it('[L-GEN-2] spacings are milliseconds', () => {
  expect([spacingText(50_400), spacingText(612_345), spacingText(null)]).toEqual([
    '50.4 ms',
    '612 ms',
    '–',
  ])
})
