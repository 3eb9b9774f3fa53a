import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { testBackends } from '../../packages/server/src/database/testing/backends.ts'
import { startNodeProcess } from '../../packages/server/src/testing/node-process.ts'
import { shop } from './shop.ts'

/** Not the one of node.toml: somebody may be playing on this machine. */
const webhookPort = 17_399

/** In memory it is the SQL of a file. */
const stores = testBackends.filter(({ name }) => name !== 'sqlite')

describe.each(stores)('the shop of the guild on $name', ({ name, open }) => {
  it('[S-API-3] [S-API-22] [S-API-24] [S-IX-4] [S-HTTP-1] [S-LOG-1] [R-PSH-2] [R-PSH-3] founds, buys, gives, speaks and is found again', async () => {
    const { url, db, dispose } = await open()
    await db.close()
    const node = await startNodeProcess({
      'database.url': url,
      'runtime.scripts_dir': fileURLToPath(new URL('./game', import.meta.url)),
      'runtime.outbound_http.allowed_hosts': '["localhost"]',
      'runtime.outbound_http.allowed_ports': `[${webhookPort}]`,
      'runtime.outbound_http.allow_private_networks': 'true',
      'storage.indexes': JSON.stringify([{ name: 'items', collection: 'items', fields: ['item'] }]),
    })
    const lines: string[] = []
    try {
      await shop(node.url, { webhookPort, print: (line) => lines.push(line) })
    } finally {
      await node.stop()
      await dispose()
    }
    expect(lines).toEqual([
      'a guild is founded, and has two members',
      'a sword and a shield are bought, once each, and the player was notified',
      'each sale is reported once',
      'what is owned is found by the index',
      'gold went to a friend',
      'what was said is kept, and went to the members',
      'the operator finds all of it; only what operators did is in the audit trail',
      name === 'in-memory'
        ? 'a database in memory keeps no lines'
        : 'every sale is in the log, with its order',
      'whoever comes back hears what is unread',
    ])
  })
})
