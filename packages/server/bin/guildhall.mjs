#!/usr/bin/env node
// In words that every Node.js reads: an older one gets to know what is missing.
const [major] = process.versions.node.split('.')
if (Number(major) < 24) {
  process.stderr.write(
    `guildhall: it needs Node.js 24 or newer, and this is ${process.versions.node}\n`,
  )
  process.exit(2)
}
await import('../lib/main.mjs')
