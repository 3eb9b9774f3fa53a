import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { runCommand } from '../../cli/run-command.ts'
import { environmentName } from '../../config/sources/environment.ts'
import { openDatabase } from '../../database/open.ts'
import { statement } from '../../database/statement.ts'
import { silentLog } from '../../database/testing/silent-log.ts'
import type { Clock } from '../../kernel/clock.ts'
import { expectSame } from './operation.ts'

const pauseMs = 20

/** Until the node that serves the store has linked the whole trail. */
export async function untilSealed(url: string, clock: Clock): Promise<void> {
  const db = await openDatabase({
    url,
    access: 'read',
    clock,
    log: silentLog,
    randomness: randomBytes,
  })
  try {
    while (((await db.get(unsealed, {}))?.rows ?? 0) > 0) await clock.sleep(pauseMs)
  } finally {
    await db.close()
  }
}

/** What an operator would run over a store that was stopped in order finds nothing. */
export async function expectSound(keys: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(keys).map(([key, value]) => [environmentName(key), value])
  for (const line of ['doctor', 'audit verify']) {
    let said = ''
    const output = {
      write(text: string) {
        said += text
      },
    }
    const terminal = { stdin: Readable.from([]), stdout: output, stderr: output, cwd: '/' }
    const deps = { serve: () => Promise.reject(new Error('nothing is to be served')) }
    const code = await runCommand(line.split(' '), Object.fromEntries(entries), terminal, deps)
    expectSame(code, 0, `the exit code of ${line}, which says ${said}`)
  }
}

const unsealed = statement({
  name: 'crash.unsealed',
  text: 'SELECT COUNT(*) AS rows FROM audit_unsealed',
  row: { rows: 'integer' },
})
