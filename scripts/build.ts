import { buildDashboard } from '../packages/dashboard/src/build/build-page.ts'
import { packPackages } from './build/packages.ts'
import { buildServer } from './build/server.ts'

/**
 * `npm run build` makes what `npm start` runs: the page of the dashboard, and the server in few
 * files, and the packages that games install. With `--if-stale` only what its sources have changed
 * since; the packages only with `--packages`, because a server needs none.
 */
const always = !process.argv.includes('--if-stale')
const page = await buildDashboard({ always })
// Before a start nothing but the node itself speaks.
if (page.built) report(`built the dashboard, ${Math.round(page.bytes / 1000)} kB`)
const server = await buildServer({ always })
if (server.built) report('built the server')
if (process.argv.includes('--packages')) {
  await packPackages()
  report('packed the packages guildhall, client, contract and create-guildhall: dist/packages')
}

function report(line: string): void {
  process.stderr.write(`${line}\n`)
}
