import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, the longest first. One that began late would keep a worker busy
 * when the others have nothing left to do.
 */
export const longest = [
  'src/dashboard.browser.test.ts',
  'build/packages.test.ts',
  'src/main.test.ts',
  'process/endings.test.ts',
  'process/failures.test.ts',
  'simulation/simulation.test.ts',
  'functions/table.test.ts',
  'crash/crash-postgres.test.ts',
  'reload/reload.test.ts',
  'cluster/two-nodes.test.ts',
  'arena/arena.test.ts',
  'realtime/over-transports.test.ts',
  'conformance/conformance.test.ts',
  'recipes/recipes.test.ts',
  'process/deadline.test.ts',
  'reload/rollback.test.ts',
  'settlement/processes.test.ts',
  'commands/test-script.test.ts',
  'src/serve.test.ts',
  'play/script-data.test.ts',
  'file/restore.test.ts',
  'build/release.test.ts',
  'lua/lua-engine.test.ts',
  'node/node.test.ts',
  'script/guide-samples.test.ts',
  'node/scheduler.test.ts',
  'lag/reports.test.ts',
  'processes/processes.test.ts',
  'reload/state.test.ts',
  'arena/page.test.ts',
  'play/runtime-states.test.ts',
  'cards/cards.test.ts',
  'process/shared-folders.test.ts',
  'database/database-deadline.test.ts',
  'commands/game-commands.test.ts',
  'python/bounds.test.ts',
  'quickjs/quickjs-engine.test.ts',
  'commands/store-commands.test.ts',
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
