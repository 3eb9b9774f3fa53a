import { isAbsolute } from 'node:path'
import type { Key } from '../key.ts'
import { type Fault, quoted } from '../problem.ts'
import { operatorShape, readOperators, type SecretReader } from './operators.ts'
import { indexShape, readStorageIndexes } from './storage-indexes.ts'

/** What is said about a key: its value, or what is wrong with it. */
export type Verdict = { value: unknown } | { fault: Fault }

/**
 * Checks a value as the TOML parser hands it out: integers are bigints, other numbers floats.
 * `secretOf` reads the files that entries of a list name.
 */
export function checkValue(key: Key, value: unknown, secretOf: SecretReader): Verdict {
  const fault = (wrong: string): Verdict => ({ fault: { wrong, allowed: allowedBy(key) } })
  switch (key.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? { value } : fault(`is ${typeName(value)}`)
    case 'integer':
      return checkInteger(key, value) ?? fault(integerFault(value))
    case 'strings':
    case 'integers':
    case 'indexes':
    case 'operators':
      if (!Array.isArray(value)) return fault(`is ${typeName(value)}`)
      return checkList(key, value, secretOf)
    default:
      if (typeof value !== 'string') return fault(`is ${typeName(value)}`)
      if (acceptsText(key, value)) return { value }
      return fault(isSecret(key) ? 'is not valid' : `${quoted(value)} is not valid`)
  }
}

/** Checks a value as the environment and flags write it. */
export function checkText(key: Key, text: string, secretOf: SecretReader): Verdict {
  const fault = (wrong: string): Verdict => ({ fault: { wrong, allowed: allowedBy(key) } })
  switch (key.kind) {
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' }
      return fault(`${quoted(text)} is not a boolean`)
    case 'integer': {
      const value = parseInteger(text)
      return value === undefined
        ? fault(`${quoted(text)} is not a decimal integer`)
        : checkValue(key, value, secretOf)
    }
    case 'strings':
    case 'integers':
    case 'indexes':
    case 'operators': {
      const list = parseList(key, text)
      return list ? checkValue(key, list, secretOf) : fault('is not a list')
    }
    default:
      return checkValue(key, text, secretOf)
  }
}

/** Whether the key is one of those that O-SEC-1 lists. */
export function isSecret(key: Key): boolean {
  return key.kind === 'string' && key.secret !== 'open'
}

/** Whether a value of the key may hold a secret, in one part or another. */
export function mayHoldSecret(key: Key): boolean {
  return isSecret(key) || key.kind === 'operators'
}

/** What a key allows, in words. */
export function allowedBy(key: Key): string {
  switch (key.kind) {
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `${key.zero ? '0 or ' : ''}${key.min} to ${key.max}`
    case 'string':
      return key.format.allowed
    case 'choice':
      return key.choices.join(', ')
    case 'path':
      return key.absolute ? 'an absolute path' : 'a path'
    case 'strings':
      return `a list of at most ${key.itemsMax} entries, each ${key.format.allowed}`
    case 'integers':
      return `a list of ${key.itemsMin} to ${key.itemsMax} integers from ${key.min} to ${key.max}`
    case 'indexes':
      return `a list of at most ${key.itemsMax} tables with ${indexShape}`
    case 'operators':
      return `a list of at most ${key.itemsMax} tables with ${operatorShape}`
  }
}

/** The type of a value, in words that an operator knows. */
export function typeName(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'a string'
    case 'bigint':
      return 'an integer'
    case 'number':
      return 'a number with a fraction'
    case 'boolean':
      return 'a boolean'
    default:
      if (Array.isArray(value)) return 'a list'
      return value instanceof Date ? 'a date' : 'a table'
  }
}

type TextKey = Extract<Key, { kind: 'string' | 'choice' | 'path' }>
type ListKey = Extract<Key, { kind: 'strings' | 'integers' | 'indexes' | 'operators' }>
type IntegerKey = Extract<Key, { kind: 'integer' }>

function acceptsText(key: TextKey, text: string): boolean {
  switch (key.kind) {
    case 'string':
      return key.format.accepts(text)
    case 'choice':
      return key.choices.includes(text)
    case 'path':
      return /\S/.test(text) && !text.includes('\0') && (!key.absolute || isAbsolute(text))
  }
}

function checkInteger(key: IntegerKey, value: unknown): Verdict | undefined {
  if (typeof value !== 'bigint') return undefined
  if (key.zero && value === 0n) return { value: 0 }
  return isWithin(value, key) ? { value: Number(value) } : undefined
}

function integerFault(value: unknown): string {
  return typeof value === 'bigint' ? `${shown(value)} is out of bounds` : `is ${typeName(value)}`
}

function checkList(key: ListKey, list: readonly unknown[], secretOf: SecretReader): Verdict {
  const fault = (wrong: string): Verdict => ({ fault: { wrong, allowed: allowedBy(key) } })
  if (list.length > key.itemsMax) return fault(`has ${list.length} entries`)
  if (key.kind === 'indexes') {
    const indexes = readStorageIndexes(list)
    return Array.isArray(indexes) ? { value: indexes } : { fault: indexes }
  }
  if (key.kind === 'operators') {
    const operators = readOperators(list, secretOf)
    return Array.isArray(operators) ? { value: operators } : { fault: operators }
  }
  if (key.kind === 'integers') {
    if (list.length < key.itemsMin) return fault(`has ${list.length} entries`)
    const bad = list.findIndex((item) => typeof item !== 'bigint' || !isWithin(item, key))
    return bad < 0 ? { value: list.map(Number) } : fault(entryFault(list, bad))
  }
  const bad = list.findIndex((item) => typeof item !== 'string' || !key.format.accepts(item))
  return bad < 0 ? { value: list } : fault(entryFault(list, bad))
}

function entryFault(list: readonly unknown[], index: number): string {
  const item = list[index]
  if (typeof item === 'string') return `entry ${index + 1}, ${quoted(item)}, is not valid`
  if (typeof item === 'bigint') return `entry ${index + 1}, ${shown(item)}, is not valid`
  return `entry ${index + 1} is ${typeName(item)}`
}

function isWithin(value: bigint, { min, max }: { min: number; max: number }): boolean {
  return value >= BigInt(min) && value <= BigInt(max)
}

/** Numbers of any length come in; messages stay short. */
function shown(value: bigint): string {
  const digits = value.toString()
  return digits.length > 24 ? `an integer of ${digits.length} digits` : digits
}

function parseInteger(text: string): bigint | undefined {
  return /^(0|-?[1-9]\d*)$/.test(text) && text.length <= 1_000 ? BigInt(text) : undefined
}

/** A JSON array, or entries between commas; never the latter for tables. */
function parseList(key: ListKey, text: string): unknown[] | undefined {
  const trimmed = text.trim()
  if (trimmed.startsWith('[')) return parseJsonList(trimmed)
  if (key.kind === 'indexes' || key.kind === 'operators') return undefined
  const items = trimmed.split(',').map((item) => item.trim())
  if (key.kind === 'strings') return items
  return items.map((item) => parseInteger(item) ?? item)
}

function parseJsonList(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text, (_name, item) =>
      Number.isSafeInteger(item) ? BigInt(item) : item,
    )
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}
