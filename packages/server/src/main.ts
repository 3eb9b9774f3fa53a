#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Compiled sources are kept between starts, so that only the first one pays for the compiler. What
// is imported before this call is not among them.
enableCompileCache()
const { runCommand } = await import('./cli/run-command.ts')

const terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
}

process.exitCode = await runCommand(process.argv.slice(2), process.env, terminal, {
  serve: async (loaded, options) => {
    const { joinParent } = await import('./processes/parent-line.ts')
    const parent = await joinParent(process)
    if (parent === undefined && loaded.config.server.processes > 1) {
      const { serveProcesses } = await import('./processes/serve-processes.ts')
      return process.exit(await serveProcesses(loaded, process, options))
    }
    const { serve } = await import('./serve.ts')
    return process.exit(await serve(loaded, process, { ...options, parent }))
  },
  inspectScript: async (loaded) =>
    (await import('./inspect-script.ts')).inspectScript(loaded, process.env),
})
