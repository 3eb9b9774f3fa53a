/** Finds the line, counted from 1, on which a key of a TOML document was set. */
export type LineOf = (path: readonly string[]) => number

/**
 * Notes where each key of a document stands, so that a message can name the line; the parser does
 * not say. The document must already have been parsed: what is said here about malformed ones
 * means nothing. Entries of lists count as keys named by their index.
 */
export function locateKeys(toml: string): LineOf {
  const scan = createScan(toml)
  const lines = new Map<string, number>()
  const lengths = new Map<string, number>()

  function note(path: readonly string[], line: number): void {
    for (let depth = 1; depth <= path.length; depth += 1) {
      const id = idOf(path.slice(0, depth))
      if (!lines.has(id)) lines.set(id, line)
    }
  }

  function header(): string[] {
    const line = scan.line()
    const isList = scan.take('[[')
    if (!isList) scan.take('[')
    const path = readKey(scan)
    scan.take(isList ? ']]' : ']')
    if (isList) {
      const length = lengths.get(idOf(path)) ?? 0
      lengths.set(idOf(path), length + 1)
      path.push(String(length))
    }
    note(path, line)
    return path
  }

  function assignment(prefix: readonly string[]): void {
    const line = scan.line()
    const path = [...prefix, ...readKey(scan)]
    note(path, line)
    scan.take('=')
    value(path)
  }

  function value(path: readonly string[]): void {
    scan.blanks()
    if (scan.take('[')) list(path)
    else if (scan.take('{')) table(path)
    else if (scan.text() === undefined) scan.scalar()
  }

  function list(path: readonly string[]): void {
    for (let index = 0; !scan.gap().take(']') && !scan.ended(); index += 1) {
      const entry = [...path, String(index)]
      note(entry, scan.line())
      value(entry)
      scan.gap().take(',')
    }
  }

  function table(path: readonly string[]): void {
    while (!scan.gap().take('}') && !scan.ended()) {
      assignment(path)
      scan.gap().take(',')
    }
  }

  let prefix: readonly string[] = []
  while (!scan.gap().ended()) {
    if (scan.next() === '[') prefix = header()
    else assignment(prefix)
  }
  return (path) => nearestLine(lines, path)
}

function nearestLine(lines: ReadonlyMap<string, number>, path: readonly string[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const line = lines.get(idOf(path.slice(0, depth)))
    if (line !== undefined) return line
  }
  return 1
}

function idOf(path: readonly string[]): string {
  return JSON.stringify(path)
}

type Scan = ReturnType<typeof createScan>

/** Reads `a . "b" . 'c'`, up to what follows it. */
function readKey(scan: Scan): string[] {
  const path: string[] = []
  do {
    scan.blanks()
    path.push(scan.text() ?? scan.until(/[\s.=\]]/g))
    scan.blanks()
  } while (scan.take('.'))
  return path
}

function createScan(source: string) {
  let position = 0
  let line = 1

  function moveTo(target: number): string {
    const passed = source.slice(position, target)
    for (let at = passed.indexOf('\n'); at >= 0; at = passed.indexOf('\n', at + 1)) line += 1
    position = target
    return passed
  }

  function take(token: string): boolean {
    if (!source.startsWith(token, position)) return false
    moveTo(position + token.length)
    return true
  }

  /** Passes whatever stands before the next match. `pattern` must be global. */
  function until(pattern: RegExp): string {
    pattern.lastIndex = position
    return moveTo(pattern.exec(source)?.index ?? source.length)
  }

  /** Reads a quoted text of any of the four kinds; undefined when none stands here. */
  function text(): string | undefined {
    const [quotes] = /^("""|'''|"|')/.exec(source.slice(position, position + 3)) ?? []
    if (quotes === undefined) return undefined
    const start = position + quotes.length
    let end = start
    while (end < source.length && !source.startsWith(quotes, end)) {
      end += quotes[0] === '"' && source[end] === '\\' ? 2 : 1
    }
    // A long text may end in up to two quotes of its own, before the three that close it.
    while (quotes.length === 3 && source[end + 3] === quotes[0]) end += 1
    moveTo(Math.min(source.length, end + quotes.length))
    const inner = source.slice(start, end)
    return quotes === '"' ? unescaped(inner) : inner
  }

  const scan = {
    take,
    until,
    text,
    line: () => line,
    next: () => source[position],
    ended: () => position >= source.length,
    /** Passes a number, a date or a word; at least one character, so that a scan always ends. */
    scalar() {
      if (until(/[,\]}\r\n#]/g) === '') moveTo(Math.min(source.length, position + 1))
    },
    blanks: () => void until(/[^ \t]/g),
    /** Passes blanks, line breaks and comments. */
    gap() {
      until(/[^ \t\r\n]/g)
      while (take('#')) {
        until(/\n/g)
        until(/[^ \t\r\n]/g)
      }
      return scan
    },
  }
  return scan
}

/** Undoes the escapes of a quoted key, as far as JSON knows them too. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    return text
  }
}
