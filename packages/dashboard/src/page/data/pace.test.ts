import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { byLength, byPages, pace, restful } from './pace.ts'

const page = join(import.meta.dirname, '..')
const sources = readdirSync(page, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\./.test(path))
  .map((path) => ({ path, text: readFileSync(join(page, path), 'utf8') }))

/** How often something is read again, wherever that is said. */
const intervals = /\b(?:everyMs|refetchInterval)\s*[:=]\s*([^,}\n]+)/g

it('how often the page reads again is decided in one place', () => {
  const numbers = sources.flatMap(({ path, text }) =>
    [...text.matchAll(intervals)]
      .filter(([, value = '']) => /^[0-9(]*[0-9]/.test(value.trim()))
      .map(([said]) => `${path}: ${said}`),
  )
  // What is drawn again by the clock reads nothing.
  expect(numbers.toSorted()).toEqual([
    'kit/table/read-age.tsx: everyMs = 1_000',
    'kit/text/time.tsx: everyMs = 10_000',
  ])
})

it('what is watched is read every two to five seconds while it changes', () => {
  for (const { changingMs } of [restful.list, restful.match, restful.rooms, restful.room]) {
    expect(changingMs).toBeGreaterThanOrEqual(2_000)
    expect(changingMs).toBeLessThanOrEqual(5_000)
  }
  expect(Math.min(...Object.values(pace))).toBeGreaterThanOrEqual(1_000)
})

it('a list that comes as a whole is read the more seldom the longer it is', () => {
  const everyMs = (rows: number) => byLength(pace.calm, Array(rows).fill(0))
  expect(byLength(pace.calm)).toBe(15_000)
  expect([0, 1, 200, 201, 10_000].map(everyMs)).toEqual([15_000, 15_000, 15_000, 30_000, 750_000])
})

it('who reads all pages of a list again does so the more seldom the more there are', () => {
  expect([0, 1, 3].map((pages) => byPages(2_000, Array(pages).fill(0)))).toEqual([
    ...[2_000, 2_000, 6_000],
  ])
  const again = sources.filter(({ text }) => /\beveryMs(: |)\(pages\)/.test(text))
  expect(again.map(({ path }) => path).toSorted()).toEqual([
    'sections/lag/lag-page.tsx',
    'sections/match-records/match-pane.tsx',
    'sections/telemetry/telemetry-page.tsx',
  ])
  for (const { text } of again) expect(text).toMatch(/\bbyPages\(.*pages\)/)
})

/** Lists of what happens. */
const followed = [
  'sections/logs/logs-page.tsx',
  'sections/error-journal/error-journal-page.tsx',
  'sections/audit/audit-page.tsx',
  'sections/chat/channel-pane.tsx',
  'sections/match-records/match-records-page.tsx',
  'sections/purchases/purchases-page.tsx',
]

it.each(followed)('%s follows while its top is seen', (path) => {
  const { text } = sources.find((source) => source.path === path) ?? { text: '' }
  expect(text).toMatch(/usePages\([\s\S]*?\{ follow \},?\s*\)/)
})
