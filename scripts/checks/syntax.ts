import { parseSync, Visitor } from 'oxc-parser'

/** What the checks see of a program: its code, apart from what it only quotes or says. */
export type Syntax = {
  /** The text with blanks for comments and for the inside of literals; every offset stays. */
  readonly code: string
  readonly literals: readonly Piece[]
  readonly comments: readonly Piece[]
  /** Every import and re-export, static or dynamic, also of a type. */
  readonly imports: readonly { readonly specifier: string; readonly offset: number }[]
  /** Functions, methods and arrows with a body of statements, outer ones first. */
  readonly functions: readonly Span[]
}

export type Piece = { readonly offset: number; readonly text: string }

export type Span = { readonly start: number; readonly end: number }

/** Reads TypeScript. What does not parse is for the compiler to report. */
export function readSyntax(path: string, text: string): Syntax {
  const { program, comments, module } = parseSync(path, text)
  const literals: Span[] = []
  const imports: { specifier: string; offset: number }[] = []
  const functions: Span[] = []

  function literal({ start, end }: Span): void {
    literals.push({ start: start + 1, end: end - 1 })
  }

  function imported({ start, end }: Span): void {
    const specifier = text.slice(start, end)
    if (/^['"]/.test(specifier)) imports.push({ specifier: specifier.slice(1, -1), offset: start })
  }

  new Visitor({
    Literal(node) {
      if (typeof node.value === 'string' || 'regex' in node) literal(node)
    },
    // The span of a part of a template has its delimiters, of one or two characters.
    TemplateElement({ start, value }) {
      literals.push({ start: start + 1, end: start + 1 + value.raw.length })
    },
    JSXText: (node) => void literals.push(node),
    TSImportType: ({ source }) => imported(source),
    FunctionDeclaration: (node) => void functions.push(node),
    FunctionExpression: (node) => void functions.push(node),
    ArrowFunctionExpression(node) {
      if (node.body.type === 'BlockStatement') functions.push(node)
    },
  }).visit(program)
  for (const { moduleRequest } of module.staticImports) imported(moduleRequest)
  for (const { moduleRequest } of module.dynamicImports) imported(moduleRequest)
  for (const { entries } of module.staticExports) {
    const request = entries.find((entry) => entry.moduleRequest)?.moduleRequest
    if (request) imported(request)
  }
  return {
    code: withBlanks(text, [...comments, ...literals]),
    literals: literals.map((span) => pieceOf(text, span)),
    comments: comments.map((span) => pieceOf(text, span)),
    imports,
    functions: functions.sort((a, b) => a.start - b.start),
  }
}

function pieceOf(text: string, { start, end }: Span): Piece {
  return { offset: start, text: text.slice(start, end) }
}

function withBlanks(text: string, spans: readonly Span[]): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), text.slice(start, end).replace(/[^\n]/g, ' '))
    at = end
  }
  parts.push(text.slice(at))
  return parts.join('')
}
