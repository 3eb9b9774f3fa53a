#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { createSystemClock } from './kernel/clock.ts'
import { compiledFolder } from './kernel/host/cache-folder.ts'

// What is imported before this call is not among what is kept.
const compiled = compiledFolder(process.env, createSystemClock())
if (compiled !== undefined) enableCompileCache(compiled)
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
