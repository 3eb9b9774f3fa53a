/** Which source a value came from; a later layer replaces the earlier ones key by key. */
export type Layer = 'default' | 'file' | 'environment' | 'flag'

/** Where a value came from, in words: `guildhall.toml line 4`, `flag --bind`. */
export type Source = { readonly layer: Layer; readonly text: string }

export const defaultSource: Source = { layer: 'default', text: 'default' }

/** What is wrong with a value, and what would be right. Neither may hold a secret. */
export type Fault = { readonly wrong: string; readonly allowed: string }

/** One line for the operator. */
export function problemLine(key: string, source: Source, { wrong, allowed }: Fault): string {
  return `${key} (${source.text}): ${wrong}; allowed: ${allowed}`
}

export function unknownKeyLine(key: string, source: Source, suggestion?: string): string {
  const hint = suggestion === undefined ? '' : `; did you mean "${suggestion}"?`
  return `unknown key ${quoted(key)} (${source.text})${hint}`
}

const quotedCharsMax = 80

/** Text from outside in quotes, cut and with everything escaped that could forge or hide a line. */
export function quoted(text: string): string {
  const chars = Array.from(text.slice(0, 2 * quotedCharsMax))
  const cut = chars.slice(0, quotedCharsMax).join('')
  return printable(JSON.stringify(cut.length < text.length ? `${cut}...` : cut))
}

/** Text without control, format and line separator characters: they become escapes. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, escapeOf)
}

function escapeOf(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}
