import type { ScriptErrorCode } from '@guildhall/contract'

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

/** `index` is set where one of several operations is refused. */
export function invalidArgument(message: string, index?: number): GuildhallError {
  return new GuildhallError('invalid_argument', message, { index })
}

/** Ends a slice that is past its deadline, in an engine that looks at the time itself. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** What `guildhall.fail` raises. */
export class FailSignal extends Error {
  override readonly name = 'guildhall.fail'
  readonly #text: string
  readonly #more: string

  /** @param more Its code and its data as JSON, by `writeFailure`; empty without either */
  constructor(text: string, more: string) {
    super(text)
    this.#text = text
    this.#more = more
  }

  /** What it says, if the value is such a signal; a script cannot make a false one. */
  static read(value: unknown): { text: string; more: string } | undefined {
    if (typeof value !== 'object' || value === null || !(#text in value)) return undefined
    return { text: value.#text, more: value.#more }
  }
}

/** What is known of an error of the script; the file is relative to the scripts folder. */
export type ErrorPlace = { message: string; file?: string; line?: number }

/** Place and message as one text, for the records: the place is its first line. */
export function errorText({ message, file, line }: ErrorPlace): string {
  return `${file === undefined ? '' : `${file}:${line}`}\n${message}`
}
