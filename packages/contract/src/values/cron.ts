/** When something happens again and again, by the minute, in UTC. Times are Unix milliseconds. */
export type Cron = {
  /** The first occurrence later than `afterUnixMs`; undefined when none comes within 5 years. */
  next(afterUnixMs: number): number | undefined
  /**
   * What occurred later than `afterUnixMs` and not later than `untilUnixMs`: how often, and the
   * last time. The work does not grow with the number of occurrences.
   */
  between(afterUnixMs: number, untilUnixMs: number): { count: number; newest: number } | undefined
}

type Field = { first: number; last: number; names: readonly string[]; namesFrom: number }

/** In the order in which an expression has them. */
const fields = {
  minute: { first: 0, last: 59, names: [], namesFrom: 0 },
  hour: { first: 0, last: 23, names: [], namesFrom: 0 },
  dayOfMonth: { first: 1, last: 31, names: [], namesFrom: 1 },
  month: {
    first: 1,
    last: 12,
    names: 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
    namesFrom: 1,
  },
  // Sunday is both 0 and 7.
  dayOfWeek: { first: 0, last: 7, names: 'sun mon tue wed thu fri sat'.split(' '), namesFrom: 0 },
} satisfies Record<string, Field>

const minuteMs = 60_000
const minutesOfDay = 1440
const dayMs = 86_400_000
/** After 400 years the calendar repeats itself, days of the week included. */
const cycleDays = 146_097
/**
 * At least 5 years. How many leap days those have makes no difference: a date that comes at all
 * comes again within a year, or is 29 February and comes after 4 years or after 8.
 */
const horizonDays = 5 * 365 + 2

/**
 * Reads a five-field cron expression: minute, hour, day of the month, month and day of the week,
 * separated by blanks. Each is a list of `*`, numbers and ranges, the latter and `*` also with a
 * step (`8-18/2`); months and weekdays may be named by three letters. When both day fields are
 * restricted, a day matches either. Undefined for anything else.
 *
 * @example
 * parseCron('0 6 * * mon')?.next(nowUnixMs) // next Monday, 06:00 UTC
 */
export function parseCron(text: string): Cron | undefined {
  const parts = text.split(/[ \t]+/).filter((part) => part !== '')
  if (parts.length !== 5) return undefined
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = Object.values(fields).map(
    (field, index) => parseField(parts[index] ?? '', field),
  )
  if (!minutes || !hours || !daysOfMonth || !months || !daysOfWeek) return undefined
  const times = [...hours.values].flatMap((hour) =>
    [...minutes.values].map((minute) => hour * 60 + minute),
  )
  return createCron({
    times: times.toSorted((a, b) => a - b),
    matchesDay: dayMatcher(daysOfMonth, months.values, daysOfWeek),
  })
}

/** `whole`: it restricts nothing, because it is `*` or has it among its list. */
type Allowed = { values: ReadonlySet<number>; whole: boolean }

function parseField(text: string, field: Field): Allowed | undefined {
  const values = new Set<number>()
  let whole = false
  for (const item of text.split(',')) {
    const range = parseItem(item.toLowerCase(), field)
    if (range === undefined) return undefined
    const { from, to, step } = range
    for (let value = from; value <= to; value += step) values.add(value)
    whole ||= item.startsWith('*') && step === 1
  }
  return { values, whole }
}

function parseItem(item: string, field: Field) {
  const [, start, end, stepText] =
    /^(\*|[0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?(?:\/([0-9]{1,2}))?$/.exec(item) ?? []
  if (start === undefined) return undefined
  const step = stepText === undefined ? 1 : Number(stepText)
  if (step === 0) return undefined
  if (start === '*')
    return end === undefined ? { from: field.first, to: field.last, step } : undefined
  // A step over a single number is read in different ways elsewhere, so it is not read at all.
  if (end === undefined && stepText !== undefined) return undefined
  const from = numberOf(start, field)
  let to = end === undefined ? from : numberOf(end, field)
  // As the end of a range Sunday is the last day of the week.
  if (to === 0 && end === 'sun' && from !== 0) to = 7
  if (from === undefined || to === undefined || from > to) return undefined
  return { from, to, step }
}

function numberOf(text: string, { first, last, names, namesFrom }: Field): number | undefined {
  const named = names.indexOf(text)
  if (named >= 0) return named + namesFrom
  const value = Number(text)
  return value >= first && value <= last ? value : undefined
}

/** Says of a day, counted from 1970-01-01, whether anything occurs on it. */
function dayMatcher(
  daysOfMonth: Allowed,
  months: ReadonlySet<number>,
  daysOfWeek: Allowed,
): (day: number) => boolean {
  const either = !daysOfMonth.whole && !daysOfWeek.whole
  return (day) => {
    const date = new Date(remainder(day, cycleDays) * dayMs)
    if (!months.has(date.getUTCMonth() + 1)) return false
    const weekday = date.getUTCDay()
    const ofMonth = daysOfMonth.values.has(date.getUTCDate())
    const ofWeek = daysOfWeek.values.has(weekday) || (weekday === 0 && daysOfWeek.values.has(7))
    return either ? ofMonth || ofWeek : ofMonth && ofWeek
  }
}

type Pattern = {
  /** Minutes of a day, ascending. */
  times: readonly number[]
  matchesDay(day: number): boolean
}

function createCron({ times, matchesDay }: Pattern): Cron {
  const firstTime = times[0] ?? 0
  const lastTime = times.at(-1) ?? 0

  function matchingDays(fromDay: number, endDay: number): number {
    let count = 0
    for (let day = fromDay; day < endDay; day += 1) if (matchesDay(day)) count += 1
    return count
  }

  /** Occurrences from the start of `fromDay` up to and including minute `time` of `day`. */
  function countUntil(fromDay: number, { day, time }: DayTime): number {
    const cycles = Math.floor((day - fromDay) / cycleDays)
    const restDay = fromDay + cycles * cycleDays
    const daysOfCycles = cycles > 0 ? cycles * matchingDays(0, cycleDays) : 0
    const timesOfDay = matchesDay(day) ? times.filter((it) => it <= time).length : 0
    return (daysOfCycles + matchingDays(restDay, day)) * times.length + timesOfDay
  }

  /** The last occurrence up to and including minute `time` of `day`. */
  function newestUntil({ day, time }: DayTime): number {
    const ofDay = matchesDay(day) ? times.findLast((it) => it <= time) : undefined
    if (ofDay !== undefined) return unixMs({ day, time: ofDay })
    let earlier = day - 1
    while (!matchesDay(earlier)) earlier -= 1
    return unixMs({ day: earlier, time: lastTime })
  }

  return {
    next(afterUnixMs) {
      const { day, time } = dayTime(afterUnixMs)
      const ofDay = matchesDay(day) ? times.find((it) => it > time) : undefined
      if (ofDay !== undefined) return unixMs({ day, time: ofDay })
      for (let later = day + 1; later <= day + horizonDays; later += 1) {
        if (matchesDay(later)) return unixMs({ day: later, time: firstTime })
      }
      return undefined
    },
    between(afterUnixMs, untilUnixMs) {
      if (untilUnixMs <= afterUnixMs) return undefined
      const after = dayTime(afterUnixMs)
      const until = dayTime(untilUnixMs)
      const count = countUntil(after.day, until) - countUntil(after.day, after)
      return count === 0 ? undefined : { count, newest: newestUntil(until) }
    },
  }
}

/** A day, counted from 1970-01-01, and a minute of it. */
type DayTime = { day: number; time: number }

function dayTime(atUnixMs: number): DayTime {
  const minute = Math.floor(atUnixMs / minuteMs)
  return { day: Math.floor(minute / minutesOfDay), time: remainder(minute, minutesOfDay) }
}

function unixMs({ day, time }: DayTime): number {
  return (day * minutesOfDay + time) * minuteMs
}

function remainder(value: number, of: number): number {
  return ((value % of) + of) % of
}
