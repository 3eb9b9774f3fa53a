import { GuildhallError, invalidArgument } from './errors.ts'

const whereCharsMax = 200

/** A value that cannot leave the worker. Where it stands is added on the way out to the whole. */
export class UnfitValue extends GuildhallError {
  /** E.g. `is NaN, which is no JSON`. */
  readonly what: string
  where = ''

  constructor(what: string) {
    super('invalid_argument', `a value ${what}`)
    this.what = what
  }
}

/** The error, with the member or item of the whole that it is about. */
export function inside(key: string | number, error: unknown): unknown {
  if (error instanceof UnfitValue) {
    const step = typeof key === 'number' ? `[${key}]` : `.${key}`
    error.where = (step + error.where).slice(0, whereCharsMax).toWellFormed()
  }
  return error
}

/**
 * What the script reads of a refusal, e.g. `value.hp is NaN, which is no JSON`; undefined for an
 * error that is none.
 */
export function said(error: unknown, whole = ''): string | undefined {
  if (!(error instanceof UnfitValue)) {
    return error instanceof GuildhallError ? error.message : undefined
  }
  const place = `${whole}${error.where}`.replace(/^\./, '')
  return `${place === '' ? 'it' : place} ${error.what}`
}

/** What a reply is refused with. */
export function replyRefusal(error: unknown): unknown {
  const text = said(error)
  return text === undefined ? error : invalidArgument(`the reply: ${text}`)
}
