#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { runCommand } from './cli/run-command.ts'

// Compiled sources are kept between starts, so that only the first one pays for the compiler.
enableCompileCache()

const terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  cwd: process.cwd(),
}

process.exitCode = await runCommand(process.argv.slice(2), process.env, terminal, {
  serve: async (loaded) => {
    const { serve } = await import('./serve.ts')
    return process.exit(await serve(loaded, process))
  },
  inspectScript: async (config) =>
    (await import('./inspect-script.ts')).inspectScript(config, process.env),
})
