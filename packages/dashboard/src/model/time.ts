/** Moments as people read them. */

/** The largest time that a date can hold, in Unix milliseconds. */
const dateMax = 8_640_000_000_000_000

const units: readonly [ms: number, name: Intl.RelativeTimeFormatUnit][] = [
  [31_557_600_000, 'year'],
  [2_629_800_000, 'month'],
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

/** E.g. `5 min. ago`; beyond ten years the date, which says more. */
export function relativeTime(unixMs: number, nowUnixMs: number): string {
  const difference = unixMs - nowUnixMs
  if (unixMs > dateMax) return 'beyond all dates'
  if (Math.abs(difference) > 10 * 31_557_600_000) return exactTime(unixMs).split('T')[0] ?? ''
  for (const [ms, name] of units) {
    if (Math.abs(difference) >= ms) return relative.format(Math.trunc(difference / ms), name)
  }
  return 'now'
}

/** The clock that times are shown by: that of the world, or that of this place. */
export type Zone = 'UTC' | 'local'

/**
 * ISO 8601 with milliseconds and how far it is from UTC, e.g. `2026-11-22T13:00:00.000+01:00`; what
 * no date can hold stays a number.
 */
export function exactTime(unixMs: number, zone: Zone = 'UTC'): string {
  if (unixMs > dateMax) return `${unixMs} ms`
  if (zone === 'UTC') return new Date(unixMs).toISOString()
  const minutes = -new Date(unixMs).getTimezoneOffset()
  const [hour, minute] = [Math.abs(minutes) / 60, Math.abs(minutes) % 60]
  const parts = [Math.floor(hour), minute].map((part) => String(part).padStart(2, '0'))
  return shifted(unixMs, minutes).slice(0, -1) + (minutes < 0 ? '-' : '+') + parts.join(':')
}

function shifted(unixMs: number, minutes: number): string {
  return new Date(unixMs + minutes * 60_000).toISOString()
}

/** As `exactTime`, in the time of this place, for people. */
export function localTime(unixMs: number): string {
  if (unixMs > dateMax) return 'beyond all dates'
  return new Date(unixMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
}

/** What a `datetime-local` input shows for a moment. */
export function inputTime(unixMs: number, zone: Zone): string {
  return exactTime(unixMs, zone).slice(0, 19)
}

/** The moment that a `datetime-local` input has, in Unix milliseconds; undefined for none. */
export function readInputTime(text: string, zone: Zone): number | undefined {
  const unixMs = Date.parse(zone === 'UTC' ? `${text}Z` : text)
  return text === '' || Number.isNaN(unixMs) || unixMs < 0 ? undefined : unixMs
}

/** E.g. `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.floor(ms / 1_000)
  const parts: readonly [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const first = parts.findIndex(([count]) => count > 0)
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

/** E.g. `1,234,567`, also beyond what a number holds. */
export function grouped(value: number | bigint): string {
  return value.toLocaleString('en')
}

/** E.g. `1 line` and `2,000 lines`. */
export function counted(count: number, word: string): string {
  return `${grouped(count)} ${word}${count === 1 ? '' : 's'}`
}

/** Said of a list that may go on behind what can be read of it: its number is not that of all. */
export function newestOnly(
  rows: readonly unknown[] | undefined,
  limit: number,
): string | undefined {
  return rows === undefined || rows.length < limit ? undefined : `the newest ${grouped(limit)}`
}

/** E.g. `1.5 MB`. */
export function bytesText(bytes: number): string {
  const names = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const step = Math.min(names.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  const value = bytes / 1000 ** step
  return `${value >= 100 || step === 0 ? Math.round(value) : value.toFixed(1)} ${names[step]}`
}
