import { findFunctions } from './functions.ts'
import type { CodeSource, Problem } from './sources.ts'

const fileLinesMax = 400
const functionLinesMax = 60
const columnsMax = 100

/** What is too long to be taken in at once. */
export function checkLengths(files: readonly CodeSource[]): Problem[] {
  return files
    .filter(isWritten)
    .flatMap((file) => [...fileLength(file), ...functionLengths(file), ...lineLengths(file)])
}

/** The declarations for scripts follow from the table: nobody reads them from end to end. */
function isWritten({ path }: CodeSource): boolean {
  return path !== 'packages/server/guildhall.d.ts'
}

function fileLength({ path, text }: CodeSource): Problem[] {
  const lines = text.trimEnd().split('\n').length
  if (lines <= fileLinesMax) return []
  return [{ path, line: fileLinesMax + 1, text: `${lines} lines; the most is ${fileLinesMax}` }]
}

function functionLengths(file: CodeSource): Problem[] {
  return findFunctions(file)
    .filter(({ ownLines }) => ownLines > functionLinesMax)
    .map(({ firstLine, ownLines }) => {
      const text = `a function of ${ownLines} own lines; the most is ${functionLinesMax}`
      return { path: file.path, line: firstLine, text }
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
