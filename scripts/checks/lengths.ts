import { type CodeSource, lineAt, type Problem } from './sources.ts'

const fileLinesMax = 400
const functionLinesMax = 60
const columnsMax = 100

/** What is too long to be taken in at once. */
export function checkLengths(files: readonly CodeSource[]): Problem[] {
  return files
    .filter(isWritten)
    .flatMap((file) => [...fileLength(file), ...functionLengths(file), ...lineLengths(file)])
}

/** The declarations for scripts follow from the table: they are not read from end to end. */
function isWritten({ path }: CodeSource): boolean {
  return path !== 'packages/server/guildhall.d.ts'
}

function fileLength({ path, text }: CodeSource): Problem[] {
  const lines = text.trimEnd().split('\n').length
  if (lines <= fileLinesMax) return []
  return [{ path, line: fileLinesMax + 1, text: `${lines} lines; the most is ${fileLinesMax}` }]
}

function functionLengths(file: CodeSource): Problem[] {
  return measureFunctions(file)
    .filter(({ ownLines }) => ownLines > functionLinesMax)
    .map(({ firstLine, ownLines }) => {
      const text = `a function of ${ownLines} own lines; the most is ${functionLinesMax}`
      return { path: file.path, line: firstLine, text }
    })
}

/**
 * The lines of functions that are written inside another one are theirs and not its own: a closure
 * that returns its methods is as long as what it says itself.
 */
function measureFunctions({ text, functions }: CodeSource) {
  const spans = functions.map(({ start, end }) => {
    return { start, end, first: lineAt(text, start), last: lineAt(text, end) }
  })
  return spans.map((outer) => {
    const taken = new Set<number>()
    for (const { start, end, first, last } of spans) {
      if (start <= outer.start || end > outer.end || first === last) continue
      for (let line = first; line <= last; line += 1) taken.add(line)
    }
    return { firstLine: outer.first, ownLines: outer.last - outer.first + 1 - taken.size }
  })
}

/** Only what cannot be broken may be longer: an address, and in tests a title or a row of data. */
function lineLengths({ path, text, isTest }: CodeSource): Problem[] {
  return text.split('\n').flatMap((line, index) => {
    const unbreakable = /https?:\/\/\S{40}/.test(line) || (isTest && /['"`]/.test(line))
    if ([...line].length <= columnsMax || unbreakable) return []
    return [{ path, line: index + 1, text: `longer than ${columnsMax} columns` }]
  })
}
