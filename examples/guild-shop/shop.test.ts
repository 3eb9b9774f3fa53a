import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { runScriptTests } from '../../packages/server/src/testing/script-tests.ts'
import { shop } from './shop.ts'

describe.each(testBackends)('the shop of the guild on $name', ({ name, open }) => {
  it('[S-API-22] [S-API-24] [S-IX-4] [R-PSH-2] [R-PSH-3] founds, buys, gives, speaks and is found again', async () => {
    const { url, db, dispose } = await open()
    await db.close()
    const node = await startNodeProcess({
      'database.url': url,
      'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
      'storage.indexes': JSON.stringify([{ name: 'items', collection: 'items', fields: ['item'] }]),
    })
    const lines: string[] = []
    try {
      await shop(node.url, { print: (line) => lines.push(`${name}: ${line}`) })
    } finally {
      await node.stop()
      await dispose()
    }
    expect(lines.at(-1)).toBe(`${name}: whoever comes back hears what is unread`)
  }, 60_000)
})

it('passes the tests of its script', async () => {
  const config = fileURLToPath(new URL('./node.toml', import.meta.url))
  const { code, stdout } = await runScriptTests(['--config', config])
  expect(code, stdout).toBe(0)
  expect(stdout).toContain('pass 3')
}, 90_000)
