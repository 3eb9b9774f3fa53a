import type { FlagAssignment } from '../config/sources/flags.ts'

/** What the command hands to the processes that run its test files. */
export type TestContext = {
  /** The working directory: relative paths of the configuration start here. */
  readonly cwd: string
  readonly configPath: string | undefined
  readonly flags: readonly FlagAssignment[]
  /** The game's folder, absolute. */
  readonly gameDir: string
}

/** As a part of a URL, because that is all that `--import` carries. */
export function writeContext(context: TestContext): string {
  return encodeURIComponent(JSON.stringify(context))
}

let current: TestContext | undefined

/** Takes the context from the URL of the module that was preloaded. */
export function takeContext(url: string): void {
  // Only the command writes it.
  current = JSON.parse(decodeURIComponent(new URL(url).search.slice(1))) as TestContext
}

/** @throws in a process that the command did not start */
export function testContext(): TestContext {
  if (current === undefined) throw new Error('run this file with `guildhall test-script`')
  return current
}
