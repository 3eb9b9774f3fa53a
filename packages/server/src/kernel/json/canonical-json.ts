import { int64Max, int64Min, type Json, type JsonObject } from '@guildhall/contract'

/**
 * The one text of a JSON object: members in the order of the UTF-8 bytes of their names at every
 * level, no white space, numbers in their shortest form (as ECMAScript writes them), 64-bit
 * integers with all their digits. What is read back from it has the same text again.
 *
 * @throws NotCanonical for what no JSON text may have here: more than 64 levels, numbers that are
 * not finite, integers beyond 64 bits, unpaired surrogates, anything but JSON
 */
export function canonicalJson(object: JsonObject): string {
  return textOf(object, 0)
}

/** Thrown for a value that has no canonical text; the message names the rule. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical'
}

/** The order of the UTF-8 bytes of two texts, without encoding them. */
export function compareUtf8(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

const depthMax = 64

function textOf(value: Json, depth: number): string {
  switch (typeof value) {
    case 'string':
      return stringText(value)
    case 'number':
      if (!Number.isFinite(value)) throw new NotCanonical('has a number out of range')
      return String(value)
    case 'bigint':
      if (value < int64Min || value > int64Max) {
        throw new NotCanonical('has an integer beyond 64 bits')
      }
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      return value === null ? 'null' : containerText(value, depth + 1)
    default:
      throw new NotCanonical('has a member that is no JSON')
  }
}

function containerText(value: Json[] | JsonObject, depth: number): string {
  if (depth > depthMax) throw new NotCanonical(`is more than ${depthMax} levels deep`)
  return Array.isArray(value) ? arrayText(value, depth) : objectText(value, depth)
}

function arrayText(array: readonly Json[], depth: number): string {
  let text = ''
  for (const element of array) text += (text === '' ? '' : ',') + textOf(element, depth)
  return `[${text}]`
}

function objectText(object: JsonObject, depth: number): string {
  let text = ''
  for (const name of sortedNames(object)) {
    const member = object[name]
    if (member === undefined) throw new NotCanonical('has a member that is no JSON')
    text += `${text === '' ? '' : ','}${stringText(name)}:${textOf(member, depth)}`
  }
  return `{${text}}`
}

function sortedNames(object: JsonObject): string[] {
  const names = Object.keys(object)
  // The engine's own order of UTF-16 units differs only where a unit is above all surrogates.
  return names.some((name) => aboveSurrogates.test(name)) ? names.sort(compareUtf8) : names.sort()
}

const aboveSurrogates = /[\uE000-\uFFFF]/

function stringText(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonical('has an unpaired surrogate')
  return JSON.stringify(text)
}

/** In UTF-8 the halves of a pair, which stand for U+10000 and beyond, come after U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
