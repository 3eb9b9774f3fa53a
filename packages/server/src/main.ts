#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { createSystemClock } from './kernel/clock.ts'
import { compiledFolder } from './kernel/host/cache-folder.ts'

// What is imported before this call is not among what is kept.
const compiled = compiledFolder(process.env, createSystemClock())
if (compiled !== undefined) enableCompileCache(compiled)
const { run } = await import('./program.ts')
await run(process)
