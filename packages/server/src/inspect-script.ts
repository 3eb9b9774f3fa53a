import { basename } from 'node:path'
import type { LoadedConfig } from './config/load.ts'
import { createSystemClock } from './kernel/clock.ts'
import { createErrorJournal } from './kernel/errors/error-journal.ts'
import { createLog } from './kernel/log/log-writer.ts'
import { createScriptHost } from './script/host.ts'
import { noPorts } from './script/ports.ts'

/** Loads the script that the configuration selects, as a node would, and lets it go again. */
export async function inspectScript(
  { config, folder }: LoadedConfig,
  environment: NodeJS.ProcessEnv,
): Promise<{ script: string } | { problem: string }> {
  const clock = createSystemClock()
  const nodeId = config.server.node_id
  const { log } = createLog({
    levels: { standard: 'error', components: new Map() },
    format: config.logging.format,
    nodeId,
    bootId: 'none',
    clock,
    // What the script prints while it is only looked at is nobody's concern.
    write: () => true,
  })
  const host = createScriptHost({
    config: config.runtime,
    clock,
    log,
    journal: createErrorJournal({ clock, log, bounds: config.errors }),
    nodeId,
    packagesRoot: folder,
    environment,
  })
  try {
    await host.start(noPorts)
    const { entrypoint } = host.describe()
    return { script: entrypoint === null ? 'none' : basename(entrypoint) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  } finally {
    await host.stop()
  }
}
