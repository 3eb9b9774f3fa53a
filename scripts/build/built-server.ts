import { buildServer } from './server.ts'

/** Runs before all tests: nodes of their own processes, and threads, run what was built. */
export async function setup(): Promise<void> {
  await buildServer()
}
