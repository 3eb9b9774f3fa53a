import { type CodeSource, lineAt } from './sources.ts'

/** A function with a body: the lines from its head to its closing brace. */
export type FoundFunction = { firstLine: number; lastLine: number; ownLines: number }

/**
 * Finds functions, methods and arrows with a body. The lines of functions that are written inside
 * another one are theirs and not its own: a closure that returns its methods is as long as what it
 * says itself.
 */
export function findFunctions({ code }: Pick<CodeSource, 'code'>): FoundFunction[] {
  const spans = [...heads(code)].map(({ head, body }) => {
    const end = matching(code, body)
    return { first: lineAt(code, head), last: lineAt(code, end), body, end }
  })
  return spans.map((outer) => {
    const inner = spans.filter((span) => span.body > outer.body && span.end < outer.end)
    const taken = new Set<number>()
    for (const { first, last } of inner) {
      if (last > first) for (let line = first; line <= last; line += 1) taken.add(line)
    }
    const ownLines = outer.last - outer.first + 1 - taken.size
    return { firstLine: outer.first, lastLine: outer.last, ownLines }
  })
}

const notNames = 'if|for|while|switch|catch|with|return|typeof|new|await|function|super|import'
const modifiers = '(?:(?:async|static|get|set|override)\\s+)*\\*?'
const name = `(?!(?:${notNames})\\b)#?[\\w$]+`
const methodHead = new RegExp(`^[ \\t]*${modifiers}${name}\\s*(?:<[^()]*>)?\\(`, 'gm')
const functionHead = /\bfunction\b\s*\*?\s*[\w$]*\s*(?:<[^()]*>)?\(/g

function* heads(code: string): Generator<{ head: number; body: number }> {
  for (const match of code.matchAll(/=>\s*\{/g)) {
    yield { head: match.index, body: match.index + match[0].length - 1 }
  }
  for (const pattern of [functionHead, methodHead]) {
    for (const match of code.matchAll(pattern)) {
      const open = match.index + match[0].length - 1
      const body = bodyAfter(code, matching(code, open) + 1)
      const head = match.index + match[0].search(/\S/)
      if (body !== undefined) yield { head, body }
    }
  }
}

/** The brace that opens the body, past the type that the function returns. */
function bodyAfter(code: string, start: number): number | undefined {
  const rest = /\s*(?:(\{)|:)/y
  rest.lastIndex = start
  const match = rest.exec(code)
  if (!match) return undefined
  if (match[1]) return rest.lastIndex - 1
  let isTypeNext = true
  for (let at = rest.lastIndex; at < code.length; at += 1) {
    const character = code[at] ?? ''
    if (character === '{' && !isTypeNext) return at
    if (/[;=,)}]/.test(character) && !code.startsWith('=>', at)) return undefined
    if (/[{([<]/.test(character)) at = matching(code, at)
    if (/\S/.test(character)) isTypeNext = /[:|&]/.test(character)
  }
  return undefined
}

const closing: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']', '<': '>' }

/** Where the bracket at `open` is closed. */
function matching(code: string, open: number): number {
  const opener = code[open] ?? ''
  const closer = closing[opener]
  let depth = 0
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === opener) depth += 1
    if (code[at] === closer && !(closer === '>' && code[at - 1] === '=')) depth -= 1
    if (depth === 0) return at
  }
  return code.length
}
