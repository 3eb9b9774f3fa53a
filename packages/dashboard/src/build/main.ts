import { buildDashboard } from './build-page.ts'

/** `npm run build` builds the page; with `--if-stale` only when its sources have changed. */

const { built, bytes } = await buildDashboard({ always: !process.argv.includes('--if-stale') })
// Before a start nothing but the node itself speaks.
if (built) process.stderr.write(`built the dashboard, ${Math.round(bytes / 1000)} kB\n`)
