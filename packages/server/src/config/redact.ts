import type { Key, Operator } from './key.ts'
import { type Config, keys, schema } from './schema.ts'

/** One top-level section of the effective configuration, fit to be shown to an operator. */
export type ConfigGroup = { name: string; entries: { key: string; value: string }[] }

const redacted = '<redacted>'

/**
 * The effective configuration without its secrets, groups and keys in text order. Values are TOML
 * text, strings unquoted; unset keys have no entry.
 */
export function describeConfig(config: Config): ConfigGroup[] {
  return Object.keys(schema)
    .toSorted()
    .map((name) => ({ name, entries: entriesOf(config, `${name}.`) }))
    .filter((group) => group.entries.length > 0)
}

/** The value of one key as it may be shown; undefined when it is unset. */
export function describeValue(config: Config, name: string): string | undefined {
  const key = keys.get(name)
  const value = key && valueAt(config, name)
  if (key === undefined || value === undefined) return undefined
  if (key.kind === 'operators') return valueText(withoutPasswords(config))
  if (key.kind !== 'string' || key.secret === 'open') return valueText(value)
  return key.secret === 'hidden' ? redacted : stripUrls(String(value))
}

function withoutPasswords({ console }: Config): Operator[] {
  return console.operators.map((operator) => ({ ...operator, password: redacted }))
}

/** The default of a key in the same spelling; undefined when there is none. */
export function describeDefault({ default: value }: Key): string | undefined {
  return value === undefined ? undefined : valueText(value)
}

/**
 * URLs, comma separated, without user, password, fragment and query parameters named like a
 * secret. What is no URL, or may hide a password in a place where none belongs, is not shown.
 */
export function stripUrls(text: string): string {
  return text
    .split(/,(?=\s*[a-z]+:\/\/)/)
    .map((url) => stripUrl(url.trim()))
    .join(',')
}

function stripUrl(text: string): string {
  // These have a path behind the scheme, and nobody to log in.
  if (text === 'memory:' || text.startsWith('sqlite:')) return text
  if (!URL.canParse(text)) return redacted
  const url = new URL(text)
  url.username = ''
  url.password = ''
  for (const name of [...url.searchParams.keys()]) {
    if (isSecretParameter(name)) url.searchParams.delete(name)
  }
  // A `/`, `?` or `#` that was not escaped ends the host in the midst of a password.
  if (/@|%40/.test(url.pathname + url.search + url.hash)) return redacted
  url.hash = ''
  return url.href
}

const secretNames = [
  /pass|pwd|secret|token|verifier|credential|hmac|salt|api_?key|private_?key|sslkey/i,
  /_(digest|hash)$/i,
  /^(user|username|auth|key|options)$/i,
]

function isSecretParameter(name: string): boolean {
  return secretNames.some((pattern) => pattern.test(name))
}

function entriesOf(config: Config, prefix: string): ConfigGroup['entries'] {
  return [...keys.keys()]
    .filter((name) => name.startsWith(prefix))
    .toSorted()
    .flatMap((name) => {
      const value = describeValue(config, name)
      return value === undefined ? [] : [{ key: name.slice(prefix.length), value }]
    })
}

function valueAt(config: Config, name: string): unknown {
  let value: unknown = config
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.getOwnPropertyDescriptor(value, part)?.value
  }
  return value
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : tomlText(value)
}

/** A value as TOML writes it; members that are unset are left out of a table. */
function tomlText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(tomlText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${name} = ${tomlText(member)}`)
  return `{ ${members.join(', ')} }`
}
