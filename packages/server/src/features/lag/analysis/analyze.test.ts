import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AnalysisOptions, analyze } from './analyze.ts'
import { artifact, type TestRecord } from './artifact.fixture.ts'
import type { Filter } from './records.ts'
import { meanOf, nearestRank, periodUs } from './spacings.ts'

const plain: AnalysisOptions = { send_rate_hz: null, max_windows: 64 }
const inbound100: readonly Filter[] = [{ kind: 100, direction: 'inbound' }]
const participant = 42

function analyzed(records: readonly TestRecord[], more: Partial<AnalysisOptions> = {}) {
  const options = { ...plain, ...more }
  const filters = inbound100
  return analyze({ bytes: artifact({ records }), filters, participant, options })
}

describe('[L-EX-1] the worked artifact', () => {
  const hex =
    '434c414700010080003000050000000200000000000000020000000000000000000000000000000000000000' +
    '0000000000112233445566778899aabbccddeeff00000001000005dc00060a24181e40000000000000060a24' +
    `181e4000000005dc${'0'.repeat(64)}` +
    `0000c3500064000200000003${'0'.repeat(72)}` +
    `000188300064000200000003${'0'.repeat(72)}`

  it('is what an encoder writes', () => {
    const records = [
      { elapsed_us: 50_000, bytes: 3 },
      { elapsed_us: 100_400, bytes: 3 },
    ]
    expect(Buffer.from(artifact({ records })).toString('hex')).toBe(hex)
  })

  it('is analysed as the rule says', () => {
    const options = { ...plain, send_rate_hz: 20 }
    const bytes = Buffer.from(hex, 'hex')
    const { quality, summaries, outcome, ...rest } = analyze({
      bytes,
      filters: inbound100,
      participant,
      options,
    })
    expect(outcome).toBe('complete')
    expect(quality).toMatchObject({ sample_count: 2, clock_uncertain: false })
    expect(summaries).toMatchObject([
      {
        key: { participant: 42, packet_kind: 100, direction: 'inbound', delivery: 'reliable' },
        quality: 'few_samples',
        mean_interarrival_us: 50_400,
        p50_interarrival_us: 50_400,
        p95_interarrival_us: 50_400,
        p99_interarrival_us: 50_400,
        histogram: { counts: [0, 0, 0, 0, 0, 0, 1, 0], overflow_count: 0 },
        cadence_residual_p95_us: 400,
        body_bytes: 6,
      },
    ])
    expect(rest).toMatchObject({ started_at_unix_us: 1_700_000_000_000_000, span_us: 50_401 })
  })

  it('is read by the reader of docs/lag.md', async () => {
    const page = readFileSync(new URL('../../../../../../docs/lag.md', import.meta.url), 'utf8')
    const [, chapter = ''] = /\n## The artifact\n(.*?)\n## /s.exec(page) ?? []
    const [, reader = ''] = /\n```ts\n(.*?)```\n/s.exec(chapter) ?? []
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-reader-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'reader.ts'), reader)
    writeFileSync(join(folder, 'artifact'), gzipSync(Buffer.from(hex, 'hex')))
    const { stdout } = await promisify(execFile)(process.execPath, ['reader.ts', 'artifact'], {
      cwd: folder,
    })
    expect(stdout).toContain("capture: '00112233445566778899aabbccddeeff'")
    expect(stdout).toContain('startedAtUnixUs: 1700000000000000n')
    expect(stdout.split('\n').slice(-3)).toEqual([
      '50000 100 inbound reliable 3',
      '100400 100 inbound reliable 3',
      '',
    ])
  })
})

it('[L-AN-4] ranks are the nearest, means are rounded half up', () => {
  const sorted = Array.from({ length: 40 }, (_, at) => at + 1)
  expect([50, 95, 99].map((percent) => nearestRank(sorted, percent))).toEqual([20, 38, 40])
  expect(nearestRank([], 50)).toBeNull()
  expect([meanOf(5, 2), meanOf(4, 3), meanOf(5, 3), meanOf(0, 0)]).toEqual([3, 1, 2, null])
})

it('[L-AN-5] a period is rounded half up', () => {
  expect([20, 30, 64, 1000, 1].map(periodUs)).toEqual([50_000, 33_333, 15_625, 1000, 1_000_000])
  expect(periodUs(7)).toBe(142_857)
  expect(periodUs(48)).toBe(20_833)
})

it('[L-AN-4] edges belong to the bucket below them', () => {
  const at = [0, 1000, 2001, 7001, 40_334, 290_334, 540_335]
  const { summaries } = analyzed(at.map((elapsed_us) => ({ elapsed_us })))
  expect(summaries[0]?.histogram.counts).toEqual([1, 2, 0, 0, 1, 0, 0, 1])
  expect(summaries[0]?.histogram.overflow_count).toBe(1)
})

it('[L-AN-4] one record has no spacing', () => {
  const { summaries, outcome } = analyzed([{ elapsed_us: 5 }])
  expect(outcome).toBe('complete')
  expect(summaries[0]).toMatchObject({
    mean_interarrival_us: null,
    p95_interarrival_us: null,
    max_interarrival_us: null,
  })
})

it('[L-AN-7] from 30 spacings on a summary is ok', () => {
  const records = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ elapsed_us: 50_000 * at }))
  expect(analyzed(records(30)).summaries[0]?.quality).toBe('few_samples')
  expect(analyzed(records(31)).summaries[0]?.quality).toBe('ok')
})

describe('[L-ART-3] malformed records', () => {
  const good = [{ elapsed_us: 10 }, { elapsed_us: 30 }]
  it.each([
    ['another direction', { elapsed_us: 20, directionByte: 2 }],
    ['another delivery', { elapsed_us: 20, deliveryByte: 3 }],
    ['unknown metadata flags', { elapsed_us: 20, metadata: 3 }],
    ['a kind that was not asked for', { elapsed_us: 20, kind: 101 }],
    ['a direction that was not asked for', { elapsed_us: 20, directionByte: 1 }],
    ['an earlier time', { elapsed_us: 9 }],
  ])('%s is counted and left out', (_what, record) => {
    const [first = record, second = record] = good
    const { quality, outcome, summaries } = analyzed([first, record, second])
    expect(quality).toMatchObject({ sample_count: 2, malformed_count: 1 })
    expect(outcome).toBe('partial')
    expect(summaries[0]?.mean_interarrival_us).toBe(20)
  })
})

it('[L-AN-3] groups go by count, kind, direction and delivery; 32 of them are kept', () => {
  const filters = Array.from({ length: 16 }, (_, at): Filter => {
    return { kind: 100 + Math.floor(at / 2), direction: at % 2 === 0 ? 'inbound' : 'outbound' }
  })
  const all = filters.flatMap(({ kind, direction }) =>
    [2, 4].map((deliveryByte) => {
      return { kind, directionByte: direction === 'inbound' ? 0 : 1, deliveryByte, elapsed_us: 0 }
    }),
  )
  const last = all.at(-1)
  const records = [...all.toReversed(), ...(last === undefined ? [] : [last])]
  const bytes = artifact({ records })
  const { summaries, truncated } = analyze({ bytes, filters, participant, options: plain })
  const names = summaries.map(({ key }) => [key.packet_kind, key.direction, key.delivery].join(' '))
  expect(names.slice(0, 4)).toEqual([
    '107 outbound datagram',
    '100 inbound reliable',
    '100 inbound datagram',
    '100 outbound reliable',
  ])
  expect([names.length, truncated]).toEqual([32, false])
})

it('[L-AN-6] windows share the span; a spacing is in that of its later record', () => {
  const records = [0, 10, 50, 99].map((elapsed_us) => ({ elapsed_us, bytes: 2 }))
  const { windows, span_us } = analyzed(records, { max_windows: 2 })
  expect(span_us).toBe(100)
  expect(windows).toMatchObject([
    {
      start_elapsed_us: 0,
      end_elapsed_us: 50,
      sample_count: 2,
      mean_interarrival_us: 10,
      max_interarrival_us: 10,
      body_bytes: 4,
    },
    {
      start_elapsed_us: 50,
      end_elapsed_us: 100,
      sample_count: 2,
      mean_interarrival_us: 45,
      p95_interarrival_us: 49,
      max_interarrival_us: 49,
      body_bytes: 4,
    },
  ])
})

it('[L-AN-6] windows hold every record once, whatever the times are', () => {
  const times = fc.array(fc.integer({ min: 0, max: 4_000_000_000 }), { minLength: 1 })
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 64 }), (unsorted, max_windows) => {
      const sorted = unsorted.toSorted((a, b) => a - b)
      const { windows, quality, summaries } = analyzed(
        sorted.map((elapsed_us) => ({ elapsed_us })),
        { max_windows },
      )
      const samples = windows.reduce((sum, { sample_count }) => sum + sample_count, 0)
      expect([samples, quality.sample_count]).toEqual([sorted.length, sorted.length])
      const spacings = sorted.slice(1).map((time, at) => time - (sorted[at] ?? 0))
      const longest = spacings.length === 0 ? null : Math.max(...spacings)
      expect(summaries[0]?.max_interarrival_us).toBe(longest)
      const maxima = windows.map(({ max_interarrival_us: max }) => max ?? -1)
      expect(Math.max(...maxima)).toBe(longest ?? -1)
    }),
  )
})

describe('[L-AN-7] quality', () => {
  it('nothing usable is no data', () => {
    const none = analyzed([])
    expect([none.outcome, none.summaries, none.windows, none.span_us]).toEqual([
      'no_data',
      [],
      [],
      null,
    ])
    expect(analyzed([{ elapsed_us: 1, kind: 7 }]).outcome).toBe('no_data')
  })

  it.each([
    ['overwritten records', { overwritten: 1 }],
    ['malformed ones on the way', { skipped_as_malformed: 2 }],
    ['the truncated flag', { flags: 7 }],
  ])('%s make it partial', (_what, header) => {
    const bytes = artifact({ records: [{ elapsed_us: 1 }], header })
    const { outcome } = analyze({ bytes, filters: inbound100, participant, options: plain })
    expect(outcome).toBe('partial')
  })

  it.each([
    [{ flags: 1 }, true],
    [{ clock_uncertainty_us: 50_000 }, false],
    [{ clock_uncertainty_us: 50_001 }, true],
  ])('with %j the clock is uncertain: %s', (header, uncertain) => {
    const bytes = artifact({ records: [{ elapsed_us: 1 }], header })
    const { quality } = analyze({ bytes, filters: inbound100, participant, options: plain })
    expect(quality.clock_uncertain).toBe(uncertain)
  })
})
