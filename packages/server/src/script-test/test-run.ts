import { globSync } from 'node:fs'
import { join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import type { TextOutput } from '../cli/terminal.ts'
import { type TestContext, writeContext } from './test-context.ts'

export type TestReport = {
  /** From the game's folder. */
  files: readonly string[]
  tests: readonly TestResult[]
  passed: number
  failed: number
}

type TestResult = {
  name: string
  file: string
  line: number
  ok: boolean
  duration_ms: number
  /** Why it failed. */
  message?: string
}

/** The longest that one test may take, in real milliseconds. */
const testTimeoutMs = 60_000

/** The test files of a game, from its folder. */
export function findTests(gameDir: string): string[] {
  const found = globSync('**/*.test.{ts,mts,js,mjs}', {
    cwd: gameDir,
    exclude: (path) => path.split(/[/\\]/).includes('node_modules'),
  })
  return found.toSorted()
}

/**
 * Runs test files with node:test, each in a process of its own.
 *
 * @param show where the report for people goes; undefined for none
 */
export async function runTests(
  context: TestContext,
  files: readonly string[],
  show: TextOutput | undefined,
): Promise<TestReport> {
  const preload = new URL('./preload.ts', import.meta.url)
  preload.search = writeContext(context)
  const stream = run({
    files: files.map((file) => join(context.gameDir, file)),
    execArgv: ['--import', preload.href, '--disable-warning=ExperimentalWarning'],
    timeout: testTimeoutMs,
    forceExit: true,
  })
  const tests: TestResult[] = []
  const note = (ok: boolean) => (event: TestEvent) => {
    const { name, file = '', line = 0, details } = event
    // A file stands for its tests; alone it is here when it could not be run.
    const message = ok ? {} : { message: messageOf(details.error) }
    const at = relative(context.gameDir, file)
    const shown = { name: name === file ? at : name, file: at, line }
    tests.push({ ...shown, ok, duration_ms: details.duration_ms, ...message })
  }
  stream.on('test:pass', note(true))
  stream.on('test:fail', note(false))
  if (show === undefined) stream.resume()
  else stream.compose(new spec()).on('data', (text: unknown) => show.write(String(text)))
  await finished(stream)
  const failed = tests.filter(({ ok }) => !ok).length
  return { files, tests, passed: tests.length - failed, failed }
}

type TestEvent = {
  name: string
  file?: string
  line?: number
  details: { duration_ms: number; error?: Error }
}

function messageOf(error: Error | undefined): string {
  if (error === undefined) return 'failed'
  return error.cause instanceof Error ? error.cause.message : error.message
}
