import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createSystemClock } from '../../kernel/clock.ts'
import { openDatabase } from '../open.ts'
import { batchStatement } from '../statement.ts'
import { silentLog } from './silent-log.ts'

/**
 * A process that writes until it is killed. It prints a line for every write that was acknowledged:
 * two rows that must be there together ever after.
 */
const [url] = process.argv.slice(2)
const db = await openDatabase({
  url,
  clock: createSystemClock(),
  log: silentLog,
  randomness: randomBytes,
})
await db.schema.transaction((tx) => {
  return tx.ddl(db.schema.render('CREATE TABLE acknowledged (id {{text}} NOT NULL PRIMARY KEY)'))
})
const insert = batchStatement({
  name: 'crash.insert',
  text: 'INSERT INTO acknowledged (id) SELECT r.id FROM {{rows}} AS r',
  params: { id: 'text' },
})

async function write(writer: number): Promise<void> {
  for (let at = 0; ; at += 1) {
    const id = `${writer}-${at}`
    await db.each(insert, [{ id }, { id: `${id}-twin` }])
    writeSync(1, `${id}\n`)
  }
}

await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)))
