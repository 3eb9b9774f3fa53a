import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cron, parseCron } from './cron.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
const at = (text: string) => Date.parse(`${text}Z`)
const iso = (unixMs: number | undefined) =>
  unixMs === undefined ? undefined : new Date(unixMs).toISOString().slice(0, 16)

function cron(text: string): Cron {
  const parsed = parseCron(text)
  if (parsed === undefined) throw new Error(`not a schedule: ${text}`)
  return parsed
}

/** The next occurrences of `text` after `from`. */
function occurrences(text: string, from: string, count: number): (string | undefined)[] {
  const schedule = cron(text)
  const found: (string | undefined)[] = []
  let afterUnixMs: number | undefined = at(from)
  while (found.length < count && afterUnixMs !== undefined) {
    afterUnixMs = schedule.next(afterUnixMs)
    found.push(iso(afterUnixMs))
  }
  return found
}

const nextOnes: [text: string, from: string, expected: string[]][] = [
  // 2025-01-01 is a Wednesday.
  ['* * * * *', '2025-01-01T00:00', ['2025-01-01T00:01', '2025-01-01T00:02']],
  ['30 6 * * *', '2025-01-01T06:30', ['2025-01-02T06:30', '2025-01-03T06:30']],
  ['0 0 * * mon', '2025-01-01T00:00', ['2025-01-06T00:00', '2025-01-13T00:00']],
  ['0 0 * * 7', '2025-01-01T00:00', ['2025-01-05T00:00', '2025-01-12T00:00']],
  ['0 0 * * 0', '2025-01-01T00:00', ['2025-01-05T00:00', '2025-01-12T00:00']],
  ['0 0 * * FRI-Sun', '2025-01-01T00:00', ['2025-01-03T00:00', '2025-01-04T00:00']],
  ['0 0 * * sat-sun', '2025-01-05T00:00', ['2025-01-11T00:00', '2025-01-12T00:00']],
  ['0 0 * * sun-sun', '2025-01-05T00:00', ['2025-01-12T00:00', '2025-01-19T00:00']],
  ['0 0 * * 5-7', '2025-01-04T00:00', ['2025-01-05T00:00', '2025-01-10T00:00']],
  ['0 0 31 * *', '2025-01-01T00:00', ['2025-01-31T00:00', '2025-03-31T00:00']],
  ['0 0 29 2 *', '2025-01-01T00:00', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['0 0 1 jan,Jul *', '2025-01-01T00:00', ['2025-07-01T00:00', '2026-01-01T00:00']],
  ['*/25 8-18/5 * * *', '2025-01-01T08:25', ['2025-01-01T08:50', '2025-01-01T13:00']],
  ['5,1,5 0 * * *', '2025-01-01T00:00', ['2025-01-01T00:01', '2025-01-01T00:05']],
  ['59 23 31 12 *', '2025-01-01T00:00', ['2025-12-31T23:59', '2026-12-31T23:59']],
  ['05 04 01 01 *', '2025-01-01T04:05', ['2026-01-01T04:05', '2027-01-01T04:05']],
  [' 0\t0  1 1\t* ', '2025-01-01T00:00', ['2026-01-01T00:00', '2027-01-01T00:00']],
]

const eitherDay: [text: string, days: string[]][] = [
  // The 13th, a Monday, and every Friday.
  ['0 0 13 * fri', ['2025-01-03', '2025-01-10', '2025-01-13', '2025-01-17']],
  // A step restricts like any other list.
  ['0 0 */15 * mon', ['2025-01-06', '2025-01-13', '2025-01-16', '2025-01-20']],
  ['0 0 1-31 * mon', ['2025-01-02', '2025-01-03', '2025-01-04', '2025-01-05']],
  // One of the two is not restricted, so only the other counts.
  ['0 0 * * mon', ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27']],
  ['0 0 */1 * mon', ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27']],
  ['0 0 3,* * mon', ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27']],
  ['0 0 13 * *', ['2025-01-13', '2025-02-13', '2025-03-13', '2025-04-13']],
]

const garbage = [
  '',
  ' ',
  '*',
  '* * * *',
  '* * * * * *',
  '@daily',
  '@reboot',
  'weekly',
  '0 0 * * * /bin/true',
  '60 * * * *',
  '* 24 * * *',
  '* * 0 * *',
  '* * 32 * *',
  '* * * 0 *',
  '* * * 13 *',
  '* * * * 8',
  '-1 * * * *',
  '1- * * * *',
  '-5 * * * *',
  '1-2-3 * * * *',
  '5-1 * * * *',
  '* 22-2 * * *',
  '* * * * 5-0',
  '* * * * sat-mon',
  '*/0 * * * *',
  '*/ * * * *',
  '*/-5 * * * *',
  '5/10 * * * *',
  '1-5/ * * * *',
  '1-5/0 * * * *',
  '*-5 * * * *',
  '** * * * *',
  ', * * * *',
  '1, * * * *',
  ',1 * * * *',
  '1,,2 * * * *',
  '1.5 * * * *',
  '+1 * * * *',
  '1e1 * * * *',
  '0x1 * * * *',
  '001 * * * *',
  '*/100 * * * *',
  '١ * * * *',
  '* * L * *',
  '* * 15W * *',
  '? * * * *',
  '* * ? * *',
  '* * * * 1#2',
  'H * * * *',
  'mon * * * *',
  '* * * mon *',
  '* * * mar-sun *',
  '* * * * jan',
  '* * * janu *',
  '* * * * mo',
  '* * * * monday',
  '* * * *\n*',
  '* * * * *\n',
  '*\u00a0* * * *',
  '* * * *\u2003*',
  '0\u00000 * * * *',
  '* * * * * #',
  '* * * * * ;',
]

describe('cron expressions', () => {
  it.each(nextOnes)('[O-SCH-8] %s after %s', (text, from, expected) => {
    expect(occurrences(text, from, 2)).toEqual(expected)
  })

  it.each(eitherDay)(
    '[O-SCH-8] %s: if both day fields are restricted, either may match',
    (text, days) => {
      const found = occurrences(text, '2025-01-01T00:00', days.length)
      expect(found).toEqual(days.map((day) => `${day}T00:00`))
    },
  )

  it.each(garbage)('[O-SCH-8] %j is not a schedule', (text) => {
    expect(parseCron(text)).toBeUndefined()
  })

  it('[O-SCH-8] a date that does not come within five years does not occur', () => {
    expect(cron('0 0 30 2 *').next(at('2025-01-01T00:00'))).toBeUndefined()
    expect(cron('0 0 31 4,6,9,11 *').next(at('2025-01-01T00:00'))).toBeUndefined()
    // 2100 is not a leap year, so after 2096 it takes until 2104.
    expect(iso(cron('0 0 29 2 *').next(at('2096-02-28T00:00')))).toBe('2096-02-29T00:00')
    expect(cron('0 0 29 2 *').next(at('2096-03-01T00:00'))).toBeUndefined()
    expect(iso(cron('0 0 29 2 *').next(at('2100-03-01T00:00')))).toBe('2104-02-29T00:00')
  })

  it('[O-SCH-8] knows nothing of summer time: every hour of every day comes once', () => {
    const days = cron('30 2 * * *').between(at('2025-01-01T00:00'), at('2026-01-01T00:00'))
    expect(days).toEqual({ count: 365, newest: at('2025-12-31T02:30') })
  })

  it('[O-SCH-5] counts a minute before, the minute itself, and half a minute', () => {
    const schedule = cron('0 12 * * *')
    const noon = at('2025-01-01T12:00')
    expect(schedule.between(noon - 1, noon)).toEqual({ count: 1, newest: noon })
    expect(schedule.between(noon, noon + dayMs - 1)).toBeUndefined()
    expect(schedule.between(noon, noon)).toBeUndefined()
    expect(schedule.between(noon, noon - dayMs)).toBeUndefined()
    expect(schedule.between(noon, noon + dayMs + 30_000)).toEqual({
      count: 1,
      newest: noon + dayMs,
    })
    expect(schedule.next(noon - 1)).toBe(noon)
    expect(schedule.next(noon)).toBe(noon + dayMs)
  })

  it('[O-SCH-5] counts years, centuries and the ends of time without walking through them', () => {
    const everyMinute = cron('* * * * *')
    const [from, to] = [at('2015-01-01T00:00'), at('2025-01-01T00:00')]
    expect(everyMinute.between(from, to)?.count).toBe((to - from) / minuteMs)
    const end = Number.MAX_SAFE_INTEGER
    const newest = Math.floor(end / minuteMs) * minuteMs
    expect(everyMinute.between(0, end)).toEqual({ count: newest / minuteMs, newest })
    // 97 leap days in 400 years, from 1970 to a year of seven digits.
    const leapDays = cron('0 0 29 2 *').between(0, 100 * 146_097 * dayMs)
    expect(leapDays?.count).toBe(100 * 97)
    // The last of them, as the calendar of 285,428 years from now is out of Date's reach.
    expect(iso((leapDays?.newest ?? 0) - 99 * 146_097 * dayMs)).toBe('2368-02-29T00:00')
  })
})

/** What an expression says, without its syntax; undefined is `*`. */
type Model = Record<'minutes' | 'hours' | 'days' | 'months' | 'weekdays', number[] | undefined>

function modelMatches(model: Model, unixMs: number): boolean {
  const date = new Date(unixMs)
  const has = (values: number[] | undefined, value: number) => values?.includes(value) ?? true
  const days = has(model.days, date.getUTCDate())
  const weekdays = has(model.weekdays, date.getUTCDay())
  const bothRestricted = model.days !== undefined && model.weekdays !== undefined
  return (
    has(model.minutes, date.getUTCMinutes()) &&
    has(model.hours, date.getUTCHours()) &&
    has(model.months, date.getUTCMonth() + 1) &&
    (bothRestricted ? days || weekdays : days && weekdays)
  )
}

/** A field as text, and the values it stands for. */
function field(first: number, last: number, names: readonly string[] = []) {
  const value = fc.integer({ min: first, max: last })
  const word = (it: number) =>
    fc.constantFrom(String(it), ...names.slice(it - first, it - first + 1))
  const single = value.chain((it) => word(it).map((text) => ({ text, values: [it] })))
  const range = fc
    .tuple(value, value, fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }))
    .chain(([a, b, step = 1]) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      const values = Array.from({ length: to - from + 1 }, (_, index) => from + index)
      const ending = step === 1 ? '' : `/${step}`
      return fc.tuple(word(from), word(to)).map(([start, end]) => ({
        text: `${start}-${end}${ending}`,
        values: values.filter((it) => (it - from) % step === 0),
      }))
    })
  const list = fc.array(fc.oneof(single, range), { minLength: 1, maxLength: 4 }).map((items) => ({
    text: items.map(({ text }) => text).join(','),
    values: items.flatMap(({ values }) => values),
  }))
  return fc.oneof(fc.constant({ text: '*', values: undefined }), list)
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const weekdays = 'sun mon tue wed thu fri sat'.split(' ')
const expressions = fc
  .record({
    minutes: field(0, 59),
    hours: field(0, 23),
    days: field(1, 31),
    months: field(1, 12, months),
    weekdays: field(0, 6, weekdays),
  })
  .map(({ minutes, hours, days, months, weekdays }) => ({
    text: [minutes, hours, days, months, weekdays].map(({ text }) => text).join(' '),
    model: {
      minutes: minutes.values,
      hours: hours.values,
      days: days.values,
      months: months.values,
      weekdays: weekdays.values,
    } satisfies Model,
  }))
/** Around turns of years, leap days and a century that has none; also before 1970. */
const instants = fc
  .tuple(
    fc.constantFrom('1969-12-31', '2024-02-28', '2024-12-31', '2025-02-28', '2100-02-28'),
    fc.integer({ min: -2 * dayMs, max: 2 * dayMs }),
  )
  .map(([day, offsetMs]) => at(`${day}T12:00`) + offsetMs)

describe('cron against a model that looks at every minute', () => {
  it('[O-SCH-5] [O-SCH-8] counts, finds the newest and the next', () => {
    fc.assert(
      fc.property(
        expressions,
        instants,
        fc.integer({ min: 0, max: 5 * dayMs }),
        ({ text, model }, afterUnixMs, spanMs) => {
          const untilUnixMs = afterUnixMs + spanMs
          const found: number[] = []
          const firstMinute = Math.floor(afterUnixMs / minuteMs) + 1
          for (let it = firstMinute * minuteMs; it <= untilUnixMs; it += minuteMs) {
            if (modelMatches(model, it)) found.push(it)
          }
          const schedule = cron(text)
          const newest = found.at(-1)
          const expected = newest === undefined ? undefined : { count: found.length, newest }
          expect(schedule.between(afterUnixMs, untilUnixMs)).toEqual(expected)
          const next = schedule.next(afterUnixMs)
          if (found.length > 0) expect(next).toBe(found[0])
          else expect(next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(untilUnixMs)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('[O-SCH-8] agrees with itself over years: every next is the one more that is counted', () => {
    fc.assert(
      fc.property(expressions, instants, fc.nat({ max: 40 * 365 }), ({ text }, from, days) => {
        const schedule = cron(text)
        const until = from + days * dayMs
        const newest = schedule.between(from, until)?.newest ?? from
        const next = schedule.next(newest)
        if (next === undefined) return
        expect(next).toBeGreaterThan(until)
        const one = { count: 1, newest: next }
        expect(schedule.between(newest, next)).toEqual(one)
        expect(schedule.between(next - 1, next + minuteMs - 1)).toEqual(one)
      }),
    )
  })

  it('[O-SCH-8] takes any text without an error', () => {
    const letters = fc.constantFrom(...'0123456789*/-,, \t?L#jansuma7'.split(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: letters })), (text) => {
        const next = parseCron(text)?.next(0)
        expect(next === undefined || next > 0).toBe(true)
      }),
    )
  })
})
