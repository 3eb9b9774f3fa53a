import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Runs a backup or a restore in a process of its own, which ends as by `kill -9` before its nth
 * step on the file system: `node killed-step.fixture.ts restore FROM TO N`.
 */
const [, , what, from = '', to = '', steps = '0'] = process.argv
/** Loading modules is no step. */
let left = Number.POSITIVE_INFINITY

const stepping = ['copyFileSync', 'fsyncSync', 'linkSync', 'renameSync', 'rmSync'] as const

for (const name of stepping) {
  const original = fs[name] as (...args: unknown[]) => unknown
  Object.assign(fs, {
    [name](...args: unknown[]) {
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
      return original(...args)
    },
  })
}
const { backUpFile } = await import('./backup.ts')
const { restoreFile } = await import('./restore.ts')
syncBuiltinESMExports()
left = Number(steps)
if (what === 'backup') await backUpFile({ from, to, force: true })
else restoreFile({ from, to, nowUnixMs: 1, schemaVersion: 999, keepSessions: false })
