import type { Role } from '@guildhall/contract'
import type { Format } from './values/formats.ts'

/**
 * One configuration key, as data. Everything that is known about a key stands here: the loader
 * checks values against it, the reference page is written from it, redaction obeys it.
 * `V` is the type of the value in `Config`; a key without a default includes `undefined`.
 */
export type Key<V = unknown> = Shape & {
  readonly default: V
  /** One line for the reference page; what the type and bounds already say is not repeated. */
  readonly doc: string
}

type Shape =
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'integer'
      readonly min: number
      readonly max: number
      /** Whether 0 is allowed below `min`, as "off". */
      readonly zero: boolean
    }
  | { readonly kind: 'string'; readonly format: Format; readonly secret: Secrecy }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'path'; readonly absolute: boolean }
  | { readonly kind: 'strings'; readonly format: Format; readonly itemsMax: number }
  | {
      readonly kind: 'integers'
      readonly min: number
      readonly max: number
      readonly itemsMin: number
      readonly itemsMax: number
    }
  | { readonly kind: 'indexes'; readonly itemsMax: number }
  | { readonly kind: 'operators'; readonly itemsMax: number }

/**
 * How a value is shown: as it is, not at all, or as a URL without user, password and secret query
 * parameters. The latter two are the secret keys: they have a file form and no command line form.
 */
export type Secrecy = 'open' | 'hidden' | 'url'

/** One entry of `storage.indexes`. */
export type StorageIndex = {
  readonly name: string
  readonly collection: string
  readonly key: string | undefined
  readonly fields: readonly string[]
  /** Those of the fields that queries may order by. */
  readonly ordered?: readonly string[]
}

/** One entry of `console.operators`; its password may be a verifier, and have come from a file. */
export type Operator = {
  readonly username: string
  readonly password: string
  readonly role: Role
}

/** A section holds keys and further sections, under their wire names. */
export type Section = { readonly [name: string]: Key | Section }

/** The values of a section's keys, nested as the section is. */
export type ValuesOf<S> = {
  readonly [N in keyof S]: S[N] extends Key<infer V> ? V : ValuesOf<S[N]>
}

type Bounds = readonly [min: number, max: number]

export function boolean(value: boolean, doc: string): Key<boolean> {
  return { kind: 'boolean', default: value, doc }
}

export function integer(value: number, [min, max]: Bounds, doc: string): Key<number> {
  return { kind: 'integer', min, max, zero: false, default: value, doc }
}

/** An integer that may also be 0, for "off", although 0 lies outside its bounds. */
export function integerOrZero(value: number, [min, max]: Bounds, doc: string): Key<number> {
  return { kind: 'integer', min, max, zero: true, default: value, doc }
}

export function integerUnset([min, max]: Bounds, doc: string): Key<number | undefined> {
  return { kind: 'integer', min, max, zero: false, default: undefined, doc }
}

export function string(value: string, format: Format, doc: string): Key<string> {
  return { kind: 'string', format, secret: 'open', default: value, doc }
}

export function stringUnset(format: Format, doc: string): Key<string | undefined> {
  return { kind: 'string', format, secret: 'open', default: undefined, doc }
}

export function secret(value: string, format: Format, doc: string): Key<string> {
  return { kind: 'string', format, secret: 'hidden', default: value, doc }
}

export function secretUnset(format: Format, doc: string): Key<string | undefined> {
  return { kind: 'string', format, secret: 'hidden', default: undefined, doc }
}

export function secretUrlUnset(format: Format, doc: string): Key<string | undefined> {
  return { kind: 'string', format, secret: 'url', default: undefined, doc }
}

export function choice<const C extends string>(
  value: NoInfer<C>,
  choices: readonly C[],
  doc: string,
): Key<C> {
  return { kind: 'choice', choices, default: value, doc }
}

export function choiceUnset<const C extends string>(
  choices: readonly C[],
  doc: string,
): Key<C | undefined> {
  return { kind: 'choice', choices, default: undefined, doc }
}

export function path(value: string, doc: string): Key<string> {
  return { kind: 'path', absolute: false, default: value, doc }
}

export function pathUnset(doc: string): Key<string | undefined> {
  return { kind: 'path', absolute: false, default: undefined, doc }
}

export function absolutePathUnset(doc: string): Key<string | undefined> {
  return { kind: 'path', absolute: true, default: undefined, doc }
}

/** A list of texts, empty by default. */
export function strings(itemsMax: number, format: Format, doc: string): Key<readonly string[]> {
  return { kind: 'strings', format, itemsMax, default: [], doc }
}

type IntegerList = { min: number; max: number; itemsMin: number; itemsMax: number }

export function integers(
  value: readonly number[],
  bounds: IntegerList,
  doc: string,
): Key<readonly number[]> {
  return { kind: 'integers', ...bounds, default: value, doc }
}

export function indexes(itemsMax: number, doc: string): Key<readonly StorageIndex[]> {
  return { kind: 'indexes', itemsMax, default: [], doc }
}

export function operators(itemsMax: number, doc: string): Key<readonly Operator[]> {
  return { kind: 'operators', itemsMax, default: [], doc }
}

export function isKey(entry: Key | Section): entry is Key {
  return 'kind' in entry && typeof entry.kind === 'string'
}
