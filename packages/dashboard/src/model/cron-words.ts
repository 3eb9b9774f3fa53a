import { parseCron } from '@guildhall/contract'

const monthNames =
  'January February March April May June July August September October November December'
const dayNames = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday Sunday'

/**
 * Says in words when a board is reset; undefined for what is no schedule.
 *
 * @example
 * cronWords('0 6 * * mon') // 'at 06:00 UTC on Monday'
 */
export function cronWords(text: string): string | undefined {
  if (parseCron(text) === undefined) return undefined
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = text.trim().split(/[ \t]+/)
  return [timeWords(minute, hour), dayWords(day, weekday), monthWords(month)]
    .filter((part) => part !== '')
    .join(' ')
}

/** The next moments of a schedule, in Unix milliseconds. */
export function nextTimes(text: string, fromUnixMs: number, count: number): number[] {
  const cron = parseCron(text)
  const times: number[] = []
  for (let at = cron?.next(fromUnixMs); at !== undefined && times.length < count; ) {
    times.push(at)
    at = cron?.next(at)
  }
  return times
}

function timeWords(minute: string, hour: string): string {
  if (isNumbers(minute) && isNumbers(hour)) {
    const times = hour
      .split(',')
      .flatMap((h) => minute.split(',').map((m) => `${h.padStart(2, '0')}:${m.padStart(2, '0')}`))
    return `at ${joined(times)} UTC`
  }
  const list = listWords(minute, 'minute', String)
  const minutes = minute === '*' ? 'every minute' : `${/^every/.test(list) ? '' : 'at '}${list}`
  if (hour === '*') return isNumbers(minute) ? `${minutes} of every hour` : minutes
  return `${minutes} of ${listWords(hour, 'hour', String)} UTC`
}

function dayWords(day: string, weekday: string): string {
  const ofMonth = day === '*' ? '' : `on ${listWords(day, 'day', String)} of the month`
  const ofWeek = weekday === '*' ? '' : `on ${listWords(weekday, '', dayName)}`
  return [ofMonth, ofWeek].filter((part) => part !== '').join(' or ') || 'every day'
}

function monthWords(month: string): string {
  return month === '*' ? '' : `in ${listWords(month, '', monthName)}`
}

function listWords(field: string, unit: string, name: (value: string) => string): string {
  const items = field.split(',').map((item) => itemWords(item, name, unit))
  return unit === '' || /^every/.test(items[0] ?? '') ? joined(items) : `${unit} ${joined(items)}`
}

function itemWords(item: string, name: (value: string) => string, unit: string): string {
  const [range = '', step] = item.split('/')
  const [from = '', to] = range.split('-')
  const span = to === undefined ? name(from) : `${name(from)} to ${name(to)}`
  if (range === '*') return `every ${step === undefined ? '' : `${step} `}${unit || 'one'}s`
  return step === undefined ? span : `every ${step} ${unit || 'one'}s from ${span}`
}

function dayName(value: string): string {
  return nameOf(value, dayNames.split(' '), 0)
}

function monthName(value: string): string {
  return nameOf(value, monthNames.split(' '), 1)
}

function nameOf(value: string, names: readonly string[], first: number): string {
  const short = value.toLowerCase()
  const found = names.find((name) => name.toLowerCase().startsWith(short))
  return (/^\d+$/.test(value) ? names[Number(value) - first] : found) ?? value
}

function isNumbers(field: string): boolean {
  return /^\d+(?:,\d+)*$/.test(field)
}

function joined(items: readonly string[]): string {
  if (items.length < 2) return items[0] ?? ''
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
}
