import type { ScriptFile } from '../wire/revision.ts'

/** So many lines are shown before the one that failed, and behind it. */
const around = 2
const lineChars = 160

/** The lines around a place of a script, with their numbers; undefined if it is not among them. */
export function excerpt(
  files: readonly ScriptFile[],
  file: string,
  line: number | undefined,
): string | undefined {
  const found = files.find(({ path }) => path === file)
  if (found === undefined || line === undefined) return undefined
  const lines = new TextDecoder().decode(found.bytes).split(/\r?\n/)
  if (line < 1 || line > lines.length) return undefined
  const first = Math.max(1, line - around)
  const last = Math.min(lines.length, line + around)
  const width = String(last).length
  return lines
    .slice(first - 1, last)
    .map((text, n) => {
      const number = first + n
      const mark = number === line ? '>' : ' '
      return `${mark} ${String(number).padStart(width)} | ${text.slice(0, lineChars)}`.trimEnd()
    })
    .join('\n')
}
