import { limits } from '../../../wire/limits.ts'
import type { ErrorPlace } from '../../errors.ts'

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
