/** A program without what it only quotes or says. */
export type Mask = {
  /** The text with blanks for comments and for the inside of literals; every offset stays. */
  readonly code: string
  readonly literals: readonly Piece[]
  readonly comments: readonly Piece[]
}

export type Piece = { readonly offset: number; readonly text: string }

/**
 * Separates code from comments, strings, templates and regular expressions. It knows no grammar:
 * where a slash could be either, what stands before it decides.
 */
export function mask(text: string): Mask {
  const literals: Piece[] = []
  const comments: Piece[] = []
  const code: string[] = []
  /** The depth of braces at which each open template goes on. */
  const templates: number[] = []
  let depth = 0
  let at = 0

  function keep(length: number): void {
    code.push(text.slice(at, at + length))
    at += length
  }

  function blank(end: number): void {
    code.push(text.slice(at, end).replace(/[^\n]/g, ' '))
    at = end
  }

  function comment(end: number): void {
    comments.push({ offset: at, text: text.slice(at, end) })
    blank(end)
  }

  function literal(end: number, open: number, close: number): void {
    literals.push({ offset: at, text: text.slice(at + open, end - close) })
    keep(open)
    blank(end - close)
    keep(close)
  }

  /** A part of a template: from its backtick, or from the brace that ended an expression. */
  function template(): void {
    const end = endOfTemplatePart(text, at + 1)
    const goesOn = text.startsWith('${', end - 2)
    literal(end, 1, goesOn ? 2 : 1)
    if (goesOn) templates.push(depth)
  }

  while (at < text.length) {
    const character = text[at] ?? ''
    const two = text.slice(at, at + 2)
    if (two === '//') comment(endOf(text, '\n', at))
    else if (two === '/*') comment(Math.min(text.length, endOf(text, '*/', at + 2) + 2))
    else if (character === '`') template()
    else if (character === '}' && templates.at(-1) === depth) {
      templates.pop()
      template()
    } else if (character === '"' || character === "'") {
      const end = endOfString(text, at)
      if (end === undefined) keep(1)
      else literal(end, 1, 1)
    } else if (character === '/' && regexMayStart(code)) {
      const end = endOfRegex(text, at)
      if (end === undefined) keep(1)
      else literal(end, 1, 1)
    } else {
      if (character === '{') depth += 1
      if (character === '}') depth -= 1
      keep(1)
    }
  }
  return { code: code.join(''), literals, comments }
}

function endOf(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from)
  return found < 0 ? text.length : found
}

/** Undefined when the line ends first: then it was an apostrophe. */
function endOfString(text: string, start: number): number | undefined {
  const quote = text[start]
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === quote) return at + 1
  }
  return undefined
}

/** After the closing backtick, or after the `${` of an expression. */
function endOfTemplatePart(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '`') return at + 1
    else if (text.startsWith('${', at)) return at + 2
  }
  return text.length
}

function endOfRegex(text: string, start: number): number | undefined {
  let inClass = false
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === '[') inClass = true
    else if (character === ']') inClass = false
    else if (character === '/' && !inClass) return at + 1
  }
  return undefined
}

/** Behind a value a slash divides; anywhere else it opens a regular expression. */
function regexMayStart(code: readonly string[]): boolean {
  const before = code.slice(-40).join('').trimEnd()
  if (/\b(return|typeof|case|in|of|do|else|void|await|yield)$/.test(before)) return true
  return !/[\w$)\]"'`/]$/.test(before)
}
