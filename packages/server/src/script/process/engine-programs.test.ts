import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { guestEngine } from './engine-programs.ts'

const probe = `
import { readFileSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { Worker } from 'node:worker_threads'
const can = (work) => { try { work(); return true } catch { return false } }
console.log(JSON.stringify({
  own: can(() => readFileSync(new URL(import.meta.url))),
  other: can(() => readFileSync('/etc/passwd')),
  write: can(() => writeFileSync(new URL('./made.txt', import.meta.url), '')),
  process: can(() => execFileSync('/bin/true')),
  code: can(() => new Function('return 1')),
  watchdog: can(() => new Worker(new URL('data:text/javascript,'), { execArgv: [] })),
}))
`

it('[S-TIER-2] [S-TIER-6] a guest runs in a process that reads its program and little else', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'guildhall-guest-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'program.mjs')
  writeFileSync(program, probe)
  const { execArgv } = guestEngine({
    entry: pathToFileURL(program),
    package: 'wasmoon',
    files: { extensions: ['.lua'], isUtf8: false },
  })
  const said = execFileSync(
    process.execPath,
    [...execArgv({ packageDir: '/nowhere', imageFile: '', inspects: false }), program],
    {
      encoding: 'utf8',
    },
  )
  expect(JSON.parse(said)).toEqual({
    own: true,
    other: false,
    write: false,
    process: false,
    code: false,
    watchdog: true,
  })
})
