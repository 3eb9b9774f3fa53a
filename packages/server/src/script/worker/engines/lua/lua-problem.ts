import type { LoadProblem } from '../../../process/load-error.ts'
import { limits } from '../../../wire/limits.ts'
import { type ErrorPlace, FailSignal } from '../../errors.ts'

/** What a script raised, with its place as far as it is known. */
export class LuaProblem extends Error {
  override readonly name = 'LuaProblem'
  readonly file: string | undefined
  readonly line: number | undefined

  constructor({ message, file, line }: ErrorPlace) {
    super(message)
    this.file = file
    this.line = line
  }
}

/** Message and place of an error that left a handler, or of one of the host's own. */
export function describeProblem(error: unknown): ErrorPlace & LoadProblem {
  if (!(error instanceof Error) || error instanceof FailSignal) return { message: String(error) }
  const message = cut(error.message)
  if (!(error instanceof LuaProblem) || error.file === undefined) return { message }
  const { file, line } = error
  return line === undefined ? { message, file } : { message, file, line }
}

/**
 * Separates the place that Lua writes before a message from the rest. A place is one only where it
 * names a file of the script; Lua shortens long names in front.
 */
export function splitPlace(text: string, files: Iterable<string>): ErrorPlace {
  const [whole, shown = '', line, message = ''] = /^([^\n:]+):(\d+): ?(.*)$/s.exec(text) ?? []
  const file = whole === undefined ? undefined : fileShownAs(shown, files)
  return file === undefined ? { message: text } : { message, file, line: Number(line) }
}

/** The first place of a traceback that lies in a file of the script. */
export function placeInTraceback(
  traceback: string,
  files: Iterable<string>,
): { file?: string; line?: number } {
  const known = [...files]
  for (const [, shown = '', line] of traceback.matchAll(/^\t([^\n:]+):(\d+):/gm)) {
    const file = fileShownAs(shown, known)
    if (file !== undefined) return { file, line: Number(line) }
  }
  return {}
}

function fileShownAs(shown: string, files: Iterable<string>): string | undefined {
  const end = shown.startsWith('...') ? shown.slice(3) : undefined
  for (const file of files) {
    if (file === shown || (end !== undefined && file.endsWith(end))) return file
  }
  return undefined
}

function cut(text: string): string {
  return text.length > limits.errorTextChars
    ? `${text.slice(0, limits.errorTextChars)} [cut]`
    : text
}
