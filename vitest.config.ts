import { defineConfig } from 'vitest/config'

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from there.
export default defineConfig({
  test: {
    include: ['packages/**/*.test.ts', 'examples/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: ['packages/server/src/database/testing/global-setup.ts'],
    // A process per file: workers, crash tests and native modules never share one.
    pool: 'forks',
    maxWorkers: 2,
    // Generous, because a loaded machine must not turn a right answer into a failure.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
})
