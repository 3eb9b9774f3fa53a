/**
 * Stored text may hold letters that nobody sees, or that turn what stands around them: they are
 * shown by their number.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u3164]/u
const unseenAll = new RegExp(unseen, 'gu')

export type TextPart = { kind: 'plain' | 'unseen'; text: string }

export function textParts(text: string): TextPart[] {
  if (!unseen.test(text)) return [{ kind: 'plain', text }]
  const parts: TextPart[] = []
  let end = 0
  for (const match of text.matchAll(unseenAll)) {
    // The joiner within emoji and the line ends of messages are as they should be.
    if (/[\u200d\n]/.test(match[0])) continue
    if (match.index > end) parts.push({ kind: 'plain', text: text.slice(end, match.index) })
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    parts.push({ kind: 'unseen', text: `U+${code}` })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ kind: 'plain', text: text.slice(end) })
  return parts
}

/** Whether somebody can type it: not so long, nothing unseen, no blanks that look like one. */
export function isTypable(text: string): boolean {
  return text.length <= 80 && !unseen.test(text) && text.trim() === text && !/\s\s/.test(text)
}

/** Whether the text is the id of an account and nothing else. */
export function isAccountId(text: string): boolean {
  return /^user-[0-9a-f]{32}$/.test(text)
}

export type NamedPart = { kind: 'text' | 'account'; text: string }

/** So many of one text are names, which cost two requests: nobody reads as many in a line. */
const namedMax = 200

/** Ids of accounts within words, which people read as names. */
export function namedParts(words: string): NamedPart[] {
  const parts = words.split(/\b(user-[0-9a-f]{32})\b/)
  const rest = parts.splice(2 * namedMax).join('')
  return [...parts, rest]
    .map((text, index): NamedPart => ({ kind: index % 2 === 0 ? 'text' : 'account', text }))
    .filter(({ text }) => text !== '')
}
