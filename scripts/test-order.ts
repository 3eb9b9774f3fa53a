import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The files that take longest, the longest first. One that began late would keep a worker busy
 * when the others have nothing left to do.
 */
export const longest = [
  'src/dashboard.browser.test.ts',
  'build/packages.test.ts',
  'simulation/simulation.test.ts',
  'src/main.test.ts',
  'realtime/over-transports.test.ts',
  'build/release.test.ts',
  'reload/reload.test.ts',
  'conformance/conformance.test.ts',
  'cluster/two-nodes.test.ts',
  'arena/arena.test.ts',
  'commands/test-script.test.ts',
  'node/scheduler.test.ts',
  'node/node.test.ts',
  'processes/processes.test.ts',
  'play/script-data.test.ts',
  'src/serve.test.ts',
  'reload/state.test.ts',
  'process/deadline.test.ts',
  'play/runtime-states.test.ts',
  'recipes/recipes.test.ts',
  'settlement/processes.test.ts',
  'cards/cards.test.ts',
  'arena/page.test.ts',
  'process/failures.test.ts',
  'lag/reports.test.ts',
  'crash/crash-postgres.test.ts',
  'script/guide-samples.test.ts',
  'lua/lua-engine.test.ts',
  'play/play.rooms-failures.test.ts',
  'commands/game-commands.test.ts',
  'commands/store-commands.test.ts',
  'reload/rollback.test.ts',
  'python/bounds.test.ts',
  'quickjs/quickjs-memory.test.ts',
  'client-sdk/client-sdk-state-languages.test.ts',
  'process/loading.test.ts',
  'cluster/node-faults.test.ts',
  'database/database-deadline.test.ts',
  'engines/engine.test.ts',
  'adjustments/answers.test.ts',
  'script/debugger.test.ts',
  'process/endings.test.ts',
  'quic/greedy.test.ts',
  'notifications/notifications.test.ts',
  'commands/reload.test.ts',
  'quic/crowd.test.ts',
  'commands/backup.test.ts',
  'console/operators.test.ts',
  'quic/quic-listener.test.ts',
  'database/hot-plans.test.ts',
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
