import { parseExact } from '@guildhall/client/console'
import { int64Max, int64Min, type JsonObject } from '@guildhall/contract'
import { jsonPages, placeOf } from '../../../model/json.ts'
import { inputTime, readInputTime } from '../../../model/time.ts'
import { zoneNow } from '../../data/display.ts'

type Control =
  | 'line'
  | 'number'
  | 'area'
  | 'json'
  | 'select'
  | 'check'
  | 'checks'
  | 'time'
  | 'account'

/** What a text means, or what is wrong with it. */
export type Reading<T> = { value: T } | { complaint: string }

/** A field of a form: it holds a text, and says what the text means. */
export type FieldKind<T> = {
  control: Control
  label: string
  hint?: string | undefined
  /** What stands there at first. */
  initial: string
  choices?: readonly string[]
  read(text: string): Reading<T> | Promise<Reading<T>>
  /** Whether it is there, by what stands in all fields; else it has no value. */
  isShown?(texts: Readonly<Record<string, string>>): boolean
}

export type Words = { label: string; hint?: string; initial?: string }

export type Fields = Readonly<Record<string, FieldKind<unknown>>>
export type ValuesOf<F extends Fields> = {
  [K in keyof F]: F[K] extends FieldKind<infer T> ? T : never
}

export function textField(words: Words): FieldKind<string> {
  return { ...base(words), control: 'line', read: needed }
}

/** Nothing typed is no value. */
export function optionalText(words: Words & { area?: boolean }): FieldKind<string | undefined> {
  const control = words.area ? 'area' : 'line'
  return { ...base(words), control, read: (text) => ({ value: text === '' ? undefined : text }) }
}

/** Nothing typed is the empty text. */
export function anyText(words: Words & { area?: boolean }): FieldKind<string> {
  const control = words.area ? 'area' : 'line'
  return { ...base(words), control, read: (text) => ({ value: text }) }
}

export function areaField(words: Words): FieldKind<string> {
  return { ...base(words), control: 'area', read: needed }
}

/** All digits of a signed 64-bit integer. */
export function int64Field(words: Words): FieldKind<bigint> {
  return {
    ...base(words),
    control: 'number',
    read: (text) => {
      if (!/^\s*[+-]?\d+\s*$/.test(text)) return { complaint: 'An integer is needed.' }
      const value = BigInt(text.trim().replace(/^\+/, ''))
      if (value < int64Min || value > int64Max) return { complaint: 'Beyond 64 bits.' }
      return { value }
    },
  }
}

export function integerField(words: Words & { min?: number; max?: number }): FieldKind<number> {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = words
  return {
    ...base(words),
    control: 'number',
    read: (text) => {
      const value = Number(text)
      if (!/^-?\d+$/.test(text.trim())) return { complaint: 'An integer is needed.' }
      return value < min || value > max ? { complaint: `From ${min} to ${max}.` } : { value }
    },
  }
}

/** A JSON object with exact 64-bit integers. */
export function jsonField(words: Words & { value?: unknown }): FieldKind<JsonObject> {
  const initial = words.value === undefined ? (words.initial ?? '{}') : jsonPages(words.value)
  return { ...base({ ...words, initial }), control: 'json', read: readJsonObject }
}

export function readJsonObject(text: string): Reading<JsonObject> {
  try {
    const value = parseExact(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as JsonObject }
    }
    return { complaint: 'The top level must be an object.' }
  } catch (error) {
    return { complaint: placeOf(error, text) }
  }
}

export function selectField<const C extends string>(
  words: Words & { choices: readonly C[] },
): FieldKind<C> {
  const { choices, initial = choices[0] ?? '' } = words
  return {
    ...base({ ...words, initial }),
    control: 'select',
    choices,
    read: (text) => {
      const value = choices.find((choice) => choice === text)
      return value === undefined ? { complaint: 'Choose one.' } : { value }
    },
  }
}

export function checkField(words: Words & { checked?: boolean }): FieldKind<boolean> {
  const initial = words.checked ? 'yes' : ''
  return {
    ...base({ ...words, initial }),
    control: 'check',
    read: (text) => ({ value: text !== '' }),
  }
}

/** Any of the choices, at least one. */
export function checksField<const C extends string>(
  words: Words & { choices: readonly C[] },
): FieldKind<C[]> {
  return {
    ...base(words),
    control: 'checks',
    choices: words.choices,
    read: (text) => {
      const chosen = new Set(text.split(' '))
      const value = words.choices.filter((choice) => chosen.has(choice))
      return value.length === 0 ? { complaint: 'Choose at least one.' } : { value }
    },
  }
}

/** A moment, typed by the clock that was chosen; its value is in Unix milliseconds. */
export function timeField(words: Words & { at?: number }): FieldKind<number> {
  const { at } = words
  return {
    ...base({ ...words, initial: at === undefined ? '' : inputTime(at, zoneNow()) }),
    control: 'time',
    read: (text) => {
      const value = readInputTime(text, zoneNow())
      return value === undefined ? { complaint: 'A date and a time are needed.' } : { value }
    },
  }
}

/** A field that is there only while another one has this text. */
export function shownWhen<T>(
  other: string,
  text: string,
  { read, ...field }: FieldKind<T>,
): FieldKind<T | undefined> {
  return { ...field, read, isShown: (texts) => texts[other] === text }
}

export function optionalTime(words: Words): FieldKind<number | undefined> {
  const { read, ...field } = timeField(words)
  return { ...field, read: (text) => (text === '' ? { value: undefined } : read(text)) }
}

function needed(text: string): Reading<string> {
  return text === '' ? { complaint: 'This is needed.' } : { value: text }
}

/** What all kinds have. */
export function base({ label, hint, initial = '' }: Words) {
  return { label, hint, initial }
}
