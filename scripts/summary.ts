import { readFileSync } from 'node:fs'

/**
 * Prints the result of a run in one line, from the test report in the file named first and the exit
 * codes of the checks and the tests. A step that failed counts, also when no test of it did.
 */

type Report = { numPassedTests: number; numFailedTests: number; numPendingTests: number }

const [path = '', checkCode = '', testCode = ''] = process.argv.slice(2)
const report = readReport(path)
const checkFailed = checkCode === '0' ? 0 : 1
const runFailed = testCode === '0' || report.numFailedTests > 0 ? 0 : 1

const passed = report.numPassedTests
const failed = report.numFailedTests + checkFailed + runFailed
const skipped = report.numPendingTests
const rest = skipped > 0 ? `, ${skipped} skipped` : ''
process.stdout.write(`${passed} passed, ${failed} failed${rest}\n`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

/** A run that broke off leaves no report; then nothing has passed. */
function readReport(file: string): Report {
  try {
    const { numPassedTests, numFailedTests, ...rest }: Partial<Record<string, unknown>> =
      JSON.parse(readFileSync(file, 'utf8'))
    const numPendingTests = count(rest.numPendingTests) + count(rest.numTodoTests)
    return {
      numPassedTests: count(numPassedTests),
      numFailedTests: count(numFailedTests),
      numPendingTests,
    }
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 }
  }
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
