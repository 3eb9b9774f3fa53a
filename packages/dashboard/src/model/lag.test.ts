import type { LagCapture, LagSummary } from '@guildhall/contract'
import { describe, expect, it } from 'vitest'
import { besideOf, captureCursor, kindsOf, recorderWords, spacingText, verdictOf } from './lag.ts'

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

function sent(of: LagSummary): LagSummary {
  return { ...of, key: { ...of.key, direction: 'outbound' } }
}

describe('[L-SRV-1] whose lag it is', () => {
  it.each([
    ['even', even, even],
    ['even', even, undefined],
    ['way', stalled, even],
    ['way', stuttered, even],
    ['node', stalled, stalled],
    ['node', stuttered, stuttered],
    ['both', stalled, stuttered],
    ['node_unknown', stalled, undefined],
    ['node_unknown', stalled, { ...even, max_interarrival_us: null }],
    ['no_data', undefined, even],
    ['too_few', { ...stalled, quality: 'few_samples' as const }, even],
  ] as const)('is %s', (verdict, client, node) => {
    expect(verdictOf(client, node)).toBe(verdict)
  })

  it.each([
    ['sent_evenly', even, even],
    ['sent_evenly', stalled, even],
    ['sent_unevenly', stalled, stalled],
    ['sent_unevenly', stuttered, stuttered],
    ['way_to_node', even, stalled],
    ['way_to_node', stuttered, stalled],
    ['node_unknown', stalled, undefined],
  ] as const)('is %s of what the player sends, and never the node', (verdict, client, node) => {
    expect(verdictOf(sent(client), node && sent(node))).toBe(verdict)
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

const none = {
  offered: 0,
  recording: 0,
  failed: 0,
  flushing: 0,
  uploaded: 0,
  missed: 0,
  gone: 0,
}

it.each<[string, LagCapture['state'], Partial<typeof none>]>([
  ['none', 'recording', {}],
  ['1 offered, 2 recording', 'recording', { offered: 1, recording: 2 }],
  ['2 uploading, 1 uploaded', 'flushing', { flushing: 2, uploaded: 1 }],
  ['3 not uploaded, 1 gone', 'expired', { recording: 2, flushing: 1, gone: 1 }],
  ['2 uploaded, 1 missed', 'sealed', { uploaded: 2, missed: 1 }],
])('[L-CON-2] recorders are "%s" of a capture that is %s', (words, state, some) => {
  expect(recorderWords({ state, recorders: { ...none, ...some } })).toBe(words)
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
