import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { builtPrograms } from './scripts/build/server.ts'
import { LongestFirst } from './scripts/test-order.ts'

/** Tests of pure code: no database, no node, no process of their own. They take seconds. */
const pure = [
  'packages/{contract,create-guildhall}/**/*.test.ts',
  'packages/server/src/{kernel,config}/**/*.test.ts',
]
const scripts = ['scripts/**/*.test.ts']

/** Tests that build, pack or copy what is here: they are begun among the longest. */
const builds = ['scripts/{build,recipes}/**/*.test.ts']

/** Tests of games are for `test-script`. */
const notOurs = ['**/node_modules/**', '**/dist/**', '**/templates/**']

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from there.
export default defineConfig({
  plugins: [builtPrograms],
  test: {
    globalSetup: ['scripts/build/built-server.ts'],
    // Generous, because a loaded machine must not turn a right answer into a failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    setupFiles: ['scripts/patient-waits.ts'],
    // Processes that run sources find what the compiler made of them: half of their start.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    // Two that compute and two that wait: many tests wait for a process, a lease or a minute. Five
    // workers took a fifth longer: each compiles for itself what it runs.
    maxWorkers: 4,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: [...pure, ...scripts],
          exclude: [...notOurs, ...builds],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'node',
          include: ['packages/**/*.test.{ts,tsx}', 'examples/**/*.test.ts', ...builds],
          exclude: [...notOurs, 'examples/*/{game,messages,lua,python}/**', ...pure],
          globalSetup: ['packages/server/src/database/testing/global-setup.ts'],
          // Processes, because workers, crash tests and native modules never share one with vitest.
          pool: 'forks',
          isolate: false,
        },
      },
    ],
  },
})
