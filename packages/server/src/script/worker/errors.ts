import type { ScriptErrorCode } from '@guildhall/contract'
import { limits } from '../wire/limits.ts'

/** What the functions of `guildhall` raise. */
export class GuildhallError extends Error {
  override readonly name = 'GuildhallError'
  readonly code: ScriptErrorCode
  /** Of a call of several operations: which one failed first. */
  readonly index?: number
  /** Of an `http_error`: which rule. */
  readonly reason?: string

  constructor(
    code: ScriptErrorCode,
    message: string,
    more: { index?: number | undefined; reason?: string | undefined } = {},
  ) {
    super(message)
    this.code = code
    if (more.index !== undefined) this.index = more.index
    if (more.reason !== undefined) this.reason = more.reason
  }
}

export function invalidArgument(message: string): GuildhallError {
  return new GuildhallError('invalid_argument', message)
}

/** What `guildhall.fail` raises. */
export class FailSignal extends Error {
  override readonly name = 'FailSignal'
  readonly #text: string

  constructor(text: string) {
    super(text)
    this.#text = text
  }

  /** The text, if the value is such a signal; a script cannot make a false one. */
  static textOf(value: unknown): string | undefined {
    return typeof value === 'object' && value !== null && #text in value ? value.#text : undefined
  }
}

export type ErrorPlace = { message: string; file?: string; line?: number }

/**
 * Message and place of whatever a script threw. Reading it may run code of the script (getters),
 * which may throw again; then there is nothing more to say.
 */
export function describeError(error: unknown, scriptsUrl: string): ErrorPlace {
  try {
    if (!(error instanceof Error)) return { message: cut(`thrown: ${String(error)}`) }
    const message = cut(`${String(error.name)}: ${String(error.message)}`)
    return { message, ...placeIn(String(error.stack), scriptsUrl) }
  } catch {
    return { message: 'an error that cannot be read' }
  }
}

/** Place and message as one text, for the records: the place is its first line. */
export function errorText({ message, file, line }: ErrorPlace): string {
  return `${file === undefined ? '' : `${file}:${line}`}\n${message}`
}

/** The first place inside the scripts folder that the stack names. */
function placeIn(stack: string, scriptsUrl: string): { file?: string; line?: number } {
  const from = stack.indexOf(scriptsUrl)
  if (from < 0) return {}
  const found = /^([^\s():]+):(\d+)/.exec(stack.slice(from + scriptsUrl.length))
  const [, file, line] = found ?? []
  return file === undefined ? {} : { file: decodeURIComponent(file), line: Number(line) }
}

function cut(text: string): string {
  return text.length > limits.errorTextChars
    ? `${text.slice(0, limits.errorTextChars)} [cut]`
    : text
}
