import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, the longest first. One that began late would keep a worker busy
 * when the others have nothing left to do.
 */
export const longest = [
  'crash/crash-postgres.test.ts',
  'crash/crash-sqlite.test.ts',
  'dashboard/src/dashboard.browser.test.ts',
  'simulation/simulation.test.ts',
  'wallet/adjustments/answers.test.ts',
  'script/process/failures.test.ts',
  'node/node.test.ts',
  'build/packages.test.ts',
  'crash/crash-outage.test.ts',
  'admission/admission.test.ts',
  'tournaments/settlement/processes.test.ts',
  'functions/table.test.ts',
  'process/deadline.test.ts',
  'node/scheduler.test.ts',
  'commands/store-commands.test.ts',
  'friends/friends-model.test.ts',
  'http/any-input.test.ts',
  'play/script-data.test.ts',
  'duel/duel.test.ts',
  'commands/test-script.test.ts',
  'database/database-deadline.test.ts',
  'operators-day/operators-day.test.ts',
  'file/restore.test.ts',
  'database/database-outage.test.ts',
  'node/node-claim.test.ts',
  'server/src/serve.test.ts',
  'bench/src/main.test.ts',
  'arena/arena.test.ts',
  'guild-shop/shop.test.ts',
]

/** The order of the test files; those that are not listed come after, the largest first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const at = longest.findIndex((ending) => moduleId.endsWith(ending))
  return at === -1 ? longest.length : at
}
