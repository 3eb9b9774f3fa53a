import { limits } from '../../../wire/limits.ts'
import type { ErrorPlace } from '../../errors.ts'

/** An error that a script of Python did not catch, as the kernel describes it. */
export class PythonError extends Error {
  override readonly name = 'PythonError'
  readonly place: ErrorPlace

  constructor(place: ErrorPlace) {
    super(place.message)
    this.place = place
  }
}

/** What the kernel says of an error: message, file and line. */
export function placeOf([message, file, line]: readonly unknown[]): ErrorPlace {
  const text = cut(String(message))
  if (typeof file !== 'string' || typeof line !== 'number') return { message: text }
  return { message: text, file, line }
}

export function describePythonError(error: unknown): ErrorPlace {
  return error instanceof PythonError ? error.place : { message: cut(String(error)) }
}

function cut(text: string): string {
  return text.length > limits.errorTextChars
    ? `${text.slice(0, limits.errorTextChars)} [cut]`
    : text
}
