import { expect, it } from 'vitest'
import { cronWords, nextTimes } from './cron-words.ts'

it.each([
  ['0 6 * * mon', 'at 06:00 UTC on Monday'],
  ['0 0 * * *', 'at 00:00 UTC every day'],
  ['0 0 1 * *', 'at 00:00 UTC on day 1 of the month'],
  ['0 0,12 * * *', 'at 00:00 and 12:00 UTC every day'],
  ['30 18 * * mon-fri', 'at 18:30 UTC on Monday to Friday'],
  ['0 0 1 jan *', 'at 00:00 UTC on day 1 of the month in January'],
  ['0 0 1,15 * 0', 'at 00:00 UTC on day 1 and 15 of the month or on Sunday'],
  ['5 * * * *', 'at minute 5 of every hour every day'],
  ['*/15 * * * *', 'every 15 minutes every day'],
  ['0 8-18/2 * * *', 'at minute 0 of every 2 hours from 8 to 18 UTC every day'],
])('[H-LDB-6] says %s in words', (text, words) => {
  expect(cronWords(text)).toBe(words)
})

it.each(['when the moon is full', '', '* * * *', '61 * * * *', '@daily'])(
  '[H-LDB-6] has no words for %j, which is never executed',
  (text) => {
    expect(cronWords(text)).toBeUndefined()
    expect(nextTimes(text, 0, 3)).toEqual([])
  },
)

it('[H-LDB-6] gives the next times', () => {
  const from = Date.UTC(2026, 0, 1, 7)
  expect(nextTimes('0 6 * * *', from, 2)).toEqual([
    Date.UTC(2026, 0, 2, 6),
    Date.UTC(2026, 0, 3, 6),
  ])
})
