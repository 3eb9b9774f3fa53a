import { runCommand } from './cli/run-command.ts'
import { createSystemClock } from './kernel/clock.ts'
import { joinParent } from './processes/parent-line.ts'
import { startEarly } from './script/process/engine-process.ts'

/** What `guildhall` does, by the arguments of the process. */
export async function run(host: NodeJS.Process): Promise<void> {
  const { stdin, stdout, stderr } = host
  const terminal = { stdin, stdout, stderr, cwd: host.cwd() }
  host.exitCode = await runCommand(host.argv.slice(2), host.env, terminal, {
    serve: async (loaded, options) => {
      const parent = await joinParent(host)
      if (parent === undefined && loaded.config.server.processes > 1) {
        const { serveProcesses } = await import('./processes/serve-processes.ts')
        return host.exit(await serveProcesses(loaded, host, options))
      }
      const early = startEarly(loaded.config.runtime, host.env, createSystemClock())
      const { serve } = await import('./serve.ts')
      return host.exit(await serve(loaded, host, { ...options, parent, early }))
    },
    inspectScript: async (loaded) =>
      (await import('./inspect-script.ts')).inspectScript(loaded, host.env),
  })
}
