import { reasonOf } from '../errors/reason.ts'
import { Unavailable } from '../errors/unavailable.ts'
import type { LogFields, LogLevel } from './log.ts'

/** `person` is `pretty` without the name of the node, and without stacks of outages. */
export type LogFormat = 'pretty' | 'json' | 'person'

/** What every line begins with. */
export type LineHead = {
  time: string
  level: LogLevel
  component: string
  msg: string
  node_id: string
  boot_id: string
}

/**
 * One line, or with a stack and `pretty` several, of which all but the first are indented. Every
 * control character is escaped, so that no text that somebody sent can look like a line of its own.
 */
export function renderLine(format: LogFormat, head: LineHead, fields: LogFields): string {
  const flat = flatten(fields, format)
  return format === 'json' ? renderJson(head, flat) : renderPretty(head, flat, format)
}

function renderJson(head: LineHead, fields: Map<string, unknown>): string {
  return `${escapeForLine(toJson({ ...clipped(head), ...Object.fromEntries(fields) }))}\n`
}

/** The first line is for the eye; what names the node comes last. */
function renderPretty(head: LineHead, fields: Map<string, unknown>, format: LogFormat): string {
  const { time, level, component, msg, ...origin } = head
  const named = format === 'person' ? [] : Object.entries(origin)
  const shown = [...fields, ...named].filter(([name]) => !ofLines.has(name))
  const pairs = shown.map(([name, value]) => `${bare(name)}=${prettyValue(value)}`)
  const opening = `${time} ${level.toUpperCase().padEnd(5)} ${bare(component)}: ${bare(clip(msg))}`
  const lines = [...ofLines].flatMap((name) => {
    const text = fields.get(name)
    return typeof text === 'string' ? text.split('\n') : []
  })
  const indented = lines.map((line) => `    ${bare(line)}\n`)
  return `${[opening, ...pairs].join(' ')}\n${indented.join('')}`
}

/** Fields of several lines: the lines of a script that failed, and stacks. */
const ofLines = new Set(['source', 'stack'])

function prettyValue(value: unknown): string {
  const json = escapeForLine(toJson(value))
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : json
}

/** Text without quotes, but with the escapes of JSON. */
function bare(text: string): string {
  return escapeForLine(JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"'))
}

/**
 * What is absent goes; what was thrown becomes `error` and `stack`; a field that is named like a
 * part of the head is set apart by an underscore, so that it cannot pose as one.
 */
function flatten(fields: LogFields, format: LogFormat): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    if (name !== 'error') flat.set(headNames.has(name) ? `${name}_` : name, value)
    else {
      const isOutage = format === 'person' && value instanceof Unavailable
      flat.set('error', isOutage ? clip(reasonOf(value)) : messageOf(value))
      if (value instanceof Error && !isOutage) flat.set('stack', stackOf(value))
    }
  }
  return flat
}

function messageOf(thrown: unknown): string {
  return clip(thrown instanceof Error ? thrown.message : toJson(thrown))
}

/** The stacks of an error and of what caused it. */
function stackOf(error: Error): string {
  const stacks: string[] = []
  let cause: unknown = error
  while (cause !== undefined && stacks.length < causesMax) {
    stacks.push(cause instanceof Error ? (cause.stack ?? cause.message) : toJson(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return clip(stacks.join('\ncaused by: '))
}

const headNames = new Set(['time', 'level', 'component', 'msg', 'node_id', 'boot_id'])
const causesMax = 5
const textCharsMax = 16_384

function clip(text: string): string {
  return text.length > textCharsMax ? `${text.slice(0, textCharsMax)}...` : text
}

function clipped(head: LineHead): LineHead {
  return { ...head, msg: clip(head.msg) }
}

/** Never throws: a log line must not fail over a value that JSON does not know. */
function toJson(value: unknown): string {
  try {
    const json = JSON.stringify(value, (_name, inner: unknown) => {
      if (typeof inner === 'bigint') return String(inner)
      return typeof inner === 'string' ? clip(inner) : inner
    })
    return json ?? JSON.stringify(String(value))
  } catch {
    return '"[unprintable]"'
  }
}

/**
 * JSON leaves these as they are: DEL and the C1 controls, which terminals obey, and the marks that
 * break a line or turn the direction of what follows.
 */
const unsafeInLine = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escapeForLine(json: string): string {
  return json.replace(unsafeInLine, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
