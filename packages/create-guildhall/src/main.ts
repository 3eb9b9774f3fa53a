#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { run } from './run.ts'

const manifest = new URL(import.meta.resolve('create-guildhall/package.json'))

process.exitCode = run(process.argv.slice(2), {
  cwd: process.cwd(),
  version: JSON.parse(readFileSync(manifest, 'utf8')).version,
  nodeVersion: process.versions.node,
  say: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`create-guildhall: ${text}\n`),
})
