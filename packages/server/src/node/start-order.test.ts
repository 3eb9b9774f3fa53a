import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { statement } from '../database/statement.ts'
import { testBackends } from '../database/testing/backends.ts'
import { startNodeProcess } from '../testing/node-process.ts'
import { rowsOf } from '../testing/tables.ts'

const addOrphan = statement({
  name: 'tests.add-orphan',
  text: `INSERT INTO match_records (match_id, node_id, boot_id, room_id, map, mode, max_players,
      opened_at_unix_ms, peak_participants, join_total)
    VALUES ('mt1-orphan', 'dev-1', 'bt1-past', 1, 'm', '', 0, 1, 3, 5)`,
  params: {},
})

it.each(testBackends.filter(({ name }) => name !== 'in-memory'))(
  '[O-STA-1] [R-REC-7] closes the records of earlier boots before it loads the script, on $name',
  async ({ open }) => {
    const test = await open()
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-order-'))
    onTestFinished(async () => {
      await test.dispose()
      rmSync(folder, { recursive: true, force: true })
    })
    await test.db.run(addOrphan, {})
    await test.db.close()
    // A script that cannot be loaded ends the start, so nothing that comes later has happened.
    writeFileSync(join(folder, 'main.js'), "throw new Error('not loadable')")
    const keys = { 'database.url': test.url, 'runtime.scripts_dir': folder }
    await expect(startNodeProcess(keys)).rejects.toThrow('not loadable')
    const [row] = await rowsOf(await test.reopen(), 'match_records')
    expect(row).toMatchObject({ match_id: 'mt1-orphan', termination_reason: 'server_closed' })
  },
)
