import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench, Benchmark, Row } from '../benchmark.ts'
import { deviceLogin, registerDevice } from '../load/accounts.ts'
import { pacedLatencies } from '../load/paced-reads.ts'
import { runCommand, startGuildhall } from '../processes/guildhall.ts'
import { median, percentile } from '../statistics.ts'

/** Whether those who write feel a backup of a large file. */
export const backup: Benchmark = { name: 'backup', run }

const bytesMax = 1_000_000_000
const chunkBytes = 1_000_000
const rounds = 5
const intervalMs = 4
const calmSeconds = 4
const afterRemovalMs = 2000

async function run(bench: Bench): Promise<Row[]> {
  const path = join(bench.folder, 'large.db')
  const keys = { 'database.url': `sqlite:${path}` }
  const bytes = bench.count(bytesMax)
  // The schema first: the rest stands in a table that somebody made beside it.
  await (await startGuildhall(bench, { keys })).stop()
  fill(path, bytes)
  await using server = await startGuildhall(bench, { keys })
  await registerDevice(server.port)
  const target = join(bench.folder, 'copy.db')
  const calm: number[][] = []
  const busy: number[][] = []
  const seconds: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const pace = { intervalMs, seconds: bench.seconds(calmSeconds) }
    calm.push(await pacedLatencies(server.port, deviceLogin, pace))
    const command = runCommand(bench, ['backup', '--to', target], keys)
    busy.push(await writesDuring(server.port, command))
    seconds.push((await command) / 1000)
    if (statSync(target).size < bytes) throw new Error('the backup is not whole')
    // Freeing so much at once holds up some disks.
    rmSync(target)
    await sleep(afterRemovalMs)
  }
  const [without, beside] = [calm.slice(1), busy.slice(1)]
  const p99s = (rounds: number[][]) => rounds.map((all) => percentile(all, 0.99))
  const [calmP99s, busyP99s] = [p99s(without), p99s(beside)]
  const worst = (rounds: number[][]) => median(rounds.map((all) => Math.max(...all)))
  const list = (rounds: number[][]) => rounds.map((all) => Math.max(...all).toFixed(0)).join(', ')
  const notes = `${rounds} backups, the median ${median(seconds).toFixed(1)} s`
  const what = `of a login beside a backup of ${Math.round(bytes / 1e6)} MB, SQLite file`
  return [
    {
      what: `p99 ${what}`,
      product: { value: median(busyP99s), unit: 'ms' },
      baseline: { name: 'without', value: median(calmP99s), unit: 'ms' },
      // Of the rounds, because the disk changes between them.
      ratio: median(busyP99s.map((value, round) => value / (calmP99s[round] ?? Number.NaN))),
      bound: { of: 'ratio', is: 'at most', limit: 2 },
      notes,
    },
    {
      what: `longest wait ${what}`,
      product: { value: worst(beside), unit: 'ms' },
      baseline: { name: 'without', value: worst(without), unit: 'ms' },
      ratio: worst(beside) / worst(without),
      bound: { of: 'value', is: 'at most', limit: 50 },
      notes: `of each round: ${list(beside)} ms, without ${list(without)} ms`,
    },
  ]
}

/** Logins at a steady pace, each of which commits a row, until the command has ended. */
async function writesDuring(port: number, command: Promise<unknown>): Promise<number[]> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  command.then(over, over)
  const all: number[] = []
  const pace = { intervalMs, seconds: 0.25 }
  while (!isOver) all.push(...(await pacedLatencies(port, deviceLogin, pace)))
  return all
}

function fill(path: string, bytes: number): void {
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE ballast (id INTEGER PRIMARY KEY, data BLOB); BEGIN')
  const insert = database.prepare(`INSERT INTO ballast (data) VALUES (randomblob(${chunkBytes}))`)
  for (let written = 0; written < bytes; written += chunkBytes) insert.run()
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}
