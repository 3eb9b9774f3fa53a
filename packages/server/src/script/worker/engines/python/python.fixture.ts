import { onTestFinished } from 'vitest'
import { createSystemClock } from '../../../../kernel/clock.ts'
import {
  createHarness,
  type Harness,
  type HarnessOptions,
  shareHarness,
} from '../../../host.fixture.ts'

/** The least that Python can do with. */
const config = { memory_mb: 128, deadline_ms: 1000 } as const

const functions = {
  sleep: async (_caller: unknown, { ms }: { ms: number }) => createSystemClock().sleep(ms),
}

/** A script that all tests of a file call: a worker of Python is started once. */
export function shareScript(options: HarnessOptions): () => Harness {
  return shareHarness({
    ...options,
    config: { ...config, ...options.config },
    functions: { ...functions, ...options.functions },
  })
}

/** What is wrong with a script that cannot be loaded. */
export async function loadProblem(options: HarnessOptions): Promise<string> {
  const harness = createHarness({ ...options, config: { ...config, ...options.config } })
  onTestFinished(() => harness.close())
  return harness.host.start().then(
    () => 'it loads',
    (error: unknown) => String(error),
  )
}
