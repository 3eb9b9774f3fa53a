import { parseArgs } from 'node:util'
import { buildDashboard } from '../packages/dashboard/src/build/build-page.ts'
import { makeRelease, packRelease, releaseFolder } from './build/release.ts'

/**
 * `npm run release` makes `dist/release/guildhall-VERSION-PLATFORM.tar.gz` and its checksum; with
 * `--engines` the one with the engines of the sandbox, Lua and Python. `--folder DIR` makes the
 * folder alone, there.
 */
const { values } = parseArgs({
  options: { engines: { type: 'boolean', default: false }, folder: { type: 'string' } },
})
const { engines, folder } = values
await buildDashboard()
if (folder === undefined) {
  const made = await releaseFolder({ engines })
  await makeRelease(made, { engines })
  const { file, bytes, sha256 } = await packRelease(made, 9)
  report(`${file}, ${(bytes / 1e6).toFixed(1)} MB\nsha256 ${sha256}`)
} else {
  await makeRelease(folder, { engines })
  report(folder)
}

function report(text: string): void {
  process.stdout.write(`${text}\n`)
}
