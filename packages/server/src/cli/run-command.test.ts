import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoadedConfig } from '../config/load.ts'
import type { Environment } from '../config/sources/environment.ts'
import { testBackends } from '../database/testing/backends.ts'
import { parsePhc } from '../kernel/auth/phc.ts'
import { makeCertificate } from '../kernel/http/connection/certificates.fixture.ts'
import { parseArguments } from './arguments.ts'
import { commandNames } from './commands.ts'
import { type CommandDeps, runCommand } from './run-command.ts'
import type { TerminalInput } from './terminal.ts'

const lasting = { fromUnixMs: 1_600_000_000_000, untilUnixMs: 4_000_000_000_000 }

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'guildhall-cli-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

type Given = {
  env?: Environment
  stdin?: TerminalInput
  inspectScript?: CommandDeps['inspectScript']
}

/** Runs a command line in a folder of its own and answers with all that came of it. */
async function run(line: string, { env = {}, stdin, inspectScript }: Given = {}) {
  const written = { stdout: '', stderr: '' }
  const served: LoadedConfig[] = []
  const output = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const terminal = {
    stdin: stdin ?? Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    cwd,
  }
  const deps: CommandDeps = {
    async serve(loaded) {
      served.push(loaded)
      return 4
    },
    ...(inspectScript ? { inspectScript } : {}),
  }
  const code = await runCommand(line === '' ? [] : line.split(' '), env, terminal, deps)
  return { code, served, ...written }
}

describe('the command line', () => {
  it('runs a command by its other name', async () => {
    expect((await run('start')).served).toHaveLength(1)
    expect((await run('start --help')).stdout).toContain('guildhall serve')
    expect((await run('test nowhere')).stderr).toContain('no folder nowhere')
  })

  it.each(['', 'serve', '--json', '--bind 127.0.0.1:1 serve'])(
    'serves for %j and ends with the exit code of the node',
    async (line) => {
      const { code, served, stdout } = await run(line)
      expect([code, served.length, stdout]).toEqual([4, 1, ''])
    },
  )

  it.each([
    '--bind 127.0.0.1:8 --log-level warn --node-id n-1 --set rooms.max_rooms=9',
    '--bind=127.0.0.1:8 serve --log-level=warn --node-id=n-1 --set=rooms.max_rooms=9',
  ])('[O-CFG-2] sets keys by flags: %s', async (line) => {
    const { served } = await run(line, { env: { GUILDHALL_HTTP__BIND: '127.0.0.1:7' } })
    const config = served[0]?.config
    expect(config?.http.bind).toBe('127.0.0.1:8')
    expect(config?.logging.level).toBe('warn')
    expect(config?.server.node_id).toBe('n-1')
    expect(config?.rooms.max_rooms).toBe(9)
    expect(served[0]?.sources.get('http.bind')?.text).toBe('flag --bind')
  })

  it.each([
    ['chek', 'unknown command "chek"; did you mean "check"?'],
    ['hash-pasword', 'unknown command "hash-pasword"; did you mean "hash-password"?'],
    ['audit', 'unknown command "audit"; did you mean "audit verify"?'],
    ['audit --help', 'unknown command "audit"; did you mean "audit verify"?'],
    ['backups', 'unknown command "backups"; did you mean "backup"?'],
    ['restore --to x', 'unknown flag "--to"; run `guildhall --help`'],
    ['repair', 'unknown command "repair"; run `guildhall --help`'],
    ['check --pritn', 'unknown flag "--pritn"; did you mean "--print"?'],
    ['--bnd x', 'unknown flag "--bnd"; did you mean "--bind"?'],
    ['migrate --print', 'unknown flag "--print"; run `guildhall --help`'],
    ['chek --pritn', 'unknown flag "--pritn"; did you mean "--print"?'],
    ['-x', 'unknown flag "-x"; run `guildhall --help`'],
    ['serve --bind', '--bind needs a value'],
    ['serve --config=', '--config needs the path of a file'],
    ['check --json=1', '--json takes no value'],
    ['--set http.bind', '--set takes KEY=VALUE'],
    ['--set =1', '--set takes KEY=VALUE'],
  ])('[O-CLI-1] ends %j with exit code 2', async (line, complaint) => {
    const { code, stdout, stderr, served } = await run(line)
    expect([code, stdout, served]).toEqual([2, '', []])
    expect(stderr).toContain(`guildhall: ${complaint}`)
  })

  it('[O-CFG-3] prints every problem on a line of its own and exits with 2', async () => {
    const line = '--bind nowhere --set rooms.max_rooms=0'
    const { code, stdout, stderr, served } = await run(line)
    expect([code, stdout, served]).toEqual([2, '', []])
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringContaining('http.bind (flag --bind): '),
      expect.stringContaining('rooms.max_rooms (flag --set): '),
    ])
    const forMachines = await run(`check --json ${line}`)
    expect(JSON.parse(forMachines.stdout).problems).toHaveLength(2)
    expect(forMachines.code).toBe(2)
  })

  it.each(['--help', 'serve --help', 'migrate --help --set nonsense=1'])(
    'prints help for %s, whatever the configuration',
    async (line) => {
      const { code, stdout, served } = await run(line, { env: { GUILDHALL_HTTP__BIND: 'x' } })
      expect([code, served]).toEqual([0, []])
      expect(stdout).toContain('Usage: guildhall ')
      expect(stdout.split('\n').every((text) => text.length <= 100)).toBe(true)
    },
  )

  it.each(commandNames)('[O-CLI-1] shows examples of %s that make sense', async (name) => {
    const { stdout } = await run(`${name} --help`)
    const examples = stdout.split('\n').filter((text) => text.startsWith('  guildhall '))
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const parsed = parseArguments(example.trim().split(' ').slice(1))
      expect(parsed).toMatchObject({ command: name })
    }
  })

  it.each(['version', '--version'])('prints the version for %s', async (line) => {
    const { code, stdout } = await run(line)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^guildhall \d+\.\d+\.\d+\ncommit: \S+\nengine: node 2\d\.\S+\n/)
    const facts = JSON.parse((await run(`${line} --json`)).stdout)
    expect(Object.keys(facts)).toEqual([
      'version',
      'commit',
      'engine',
      'platform',
      'schema_version',
    ])
  })
})

describe('check', () => {
  it('[O-TLS-1] refuses a certificate with which a node could not serve', async () => {
    const [valid, other] = [makeCertificate(lasting), makeCertificate(lasting)]
    const env = {
      GUILDHALL_HTTP__TLS__CERTIFICATE_FILE: join(cwd, 'certificate.pem'),
      GUILDHALL_HTTP__TLS__PRIVATE_KEY_FILE: join(cwd, 'key.pem'),
    }
    const missing = await run('check', { env })
    expect([missing.code, missing.stdout]).toEqual([2, ''])
    expect(missing.stderr).toMatch(/^http\.tls: .*certificate\.pem/)
    writeFileSync(join(cwd, 'certificate.pem'), valid.certificate)
    writeFileSync(join(cwd, 'key.pem'), other.privateKey)
    expect((await run('check', { env })).code).toBe(2)
    writeFileSync(join(cwd, 'key.pem'), valid.privateKey)
    expect((await run('check', { env })).code).toBe(0)
  })

  it('[O-DB-1] refuses a database in a folder that is not there', async () => {
    const env = { GUILDHALL_DATABASE__URL: 'sqlite:missing/game.db' }
    const { code, stdout, stderr } = await run('check --database', { env })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe('guildhall: the folder of the database file does not exist\n')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('[O-DB-1] refuses a database that no node could write', async () => {
    writeFileSync(join(cwd, 'a-file'), '')
    const env = { GUILDHALL_DATABASE__URL: 'sqlite:a-file/game.db' }
    const { code, stdout, stderr } = await run('check --database', { env })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('guildhall: the database file cannot be written: ENOTDIR')
  })

  it('[O-CLI-2] prints one line without secrets, warnings elsewhere, and writes nothing', async () => {
    const env = {
      GUILDHALL_DATABASE__URL: 'sqlite:game.db',
      GUILDHALL_CONSOLE__PASSWORD: 'zx-secret-password',
    }
    const { code, stdout, stderr } = await run('check', { env })
    expect(code).toBe(0)
    expect(stdout).toBe(
      'config ok: node_id=dev-1 http=127.0.0.1:7350 backend=sqlite script=unchecked\n',
    )
    expect(stderr).toBe('')
    expect((await run('check')).stderr).toContain('warning: console.username')
    expect(readdirSync(cwd)).toEqual([])
  })

  it('[O-CLI-2] loads the script and fails with it', async () => {
    const good = await run('check', { inspectScript: async () => ({ script: 'main.ts' }) })
    expect(good.stdout).toContain('script=main.ts')
    const inspectScript = async () => ({ problem: 'main.ts line 3: unexpected token' })
    const bad = await run('check', { inspectScript })
    expect([bad.code, bad.stdout]).toEqual([2, ''])
    expect(bad.stderr).toContain('main.ts line 3')
  })

  it('[O-CFG-9] prints the merged configuration with the source of each value', async () => {
    writeFileSync(join(cwd, 'guildhall.toml'), '\n[rooms]\nmax_rooms = 5\n', { mode: 0o600 })
    const env = { GUILDHALL_DATABASE__URL: 'postgres://u:zx-secret@db/game' }
    const { code, stdout } = await run('check --print --node-id n-1', { env })
    expect(code).toBe(0)
    const lines = stdout.split('\n')
    expect(lines).toContain('rooms.max_rooms = 5  # guildhall.toml line 3')
    expect(lines).toContain('server.node_id = n-1  # flag --node-id')
    expect(lines).toContain('console.password = <redacted>  # default')
    expect(lines).toContain(
      'database.url = postgres://db/game  # environment GUILDHALL_DATABASE__URL',
    )
    expect(stdout).not.toContain('zx-secret')
    const { entries } = JSON.parse((await run('check --print --json', { env })).stdout)
    expect(entries).toContainEqual({
      key: 'rooms.max_rooms',
      value: '5',
      source: 'guildhall.toml line 3',
    })
  })

  it('looks at the database without making one', async () => {
    const env = { GUILDHALL_DATABASE__URL: 'sqlite:game.db' }
    const absent = await run('check --database', { env })
    expect(absent.code).toBe(3)
    expect(absent.stdout).toContain('database ok: schema version 0, ')
    expect(existsSync(join(cwd, 'game.db'))).toBe(false)
    expect((await run('check --database')).code).toBe(0)
  })

  it('[O-CLK-3] says how far the clock of a server is away', async () => {
    const backend = testBackends.find(({ name }) => name === 'postgres')
    const server = await backend?.open()
    const env = { GUILDHALL_DATABASE__URL: server?.url ?? '' }
    const { code, stdout } = await run('check --database', { env })
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^database clock: \d+ ms (ahead|behind)$/m),
    ])
    const { database } = JSON.parse((await run('check --database --json', { env })).stdout)
    expect(database).toMatchObject({ pending: [], clock_ahead_ms: expect.any(Number) })
    await server?.dispose()
  })
})

describe('migrate', () => {
  // The file stands in a folder of its own, so that its paths do not depend on where the tests run.
  const config = () => {
    mkdirSync(join(cwd, 'etc'))
    const path = join(cwd, 'etc', 'node.toml')
    writeFileSync(path, 'database.url = "sqlite:game.db"', { mode: 0o600 })
    return `--config ${path}`
  }

  it('[O-MIG-2] lists what is pending with --check, applies it, and finds nothing more', async () => {
    const flags = config()
    const before = await run(`migrate --check ${flags}`)
    expect(before.code).toBe(3)
    expect(before.stdout).toContain('pending 0001-foundation\n')
    expect(existsSync(join(cwd, 'etc', 'game.db'))).toBe(false)

    const applied = await run(`migrate ${flags}`)
    expect(applied.code).toBe(0)
    expect(applied.stdout).toContain('applied 0001-foundation\n')

    const after = await run(`migrate --check --json ${flags}`)
    expect(after.code).toBe(0)
    expect(JSON.parse(after.stdout)).toMatchObject({ applied: [], pending: [] })
    expect((await run(`check --database ${flags}`)).code).toBe(0)
    expect((await run(`migrate ${flags}`)).code).toBe(0)
  })

  it('has nothing to do in memory', async () => {
    expect((await run('migrate')).code).toBe(0)
    expect((await run('migrate --check')).code).toBe(0)
  })

  it('[O-DB-2] fails with 1 when the database cannot be opened', async () => {
    const env = { GUILDHALL_DATABASE__URL: `sqlite:${join(cwd, 'absent', 'game.db')}` }
    const { code, stdout, stderr } = await run('migrate', { env })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('guildhall: ')
  })
})

describe('hash-password', () => {
  const typed = (text: string | Buffer) => Readable.from([Buffer.from(text)])

  it.each(['a good password\n', 'a good password', 'a good password\r\nmore\n'])(
    '[O-CLI-3] prints a verifier for one line of standard input: %j',
    async (text) => {
      const { code, stdout, stderr } = await run('hash-password', { stdin: typed(text) })
      expect([code, stderr]).toEqual([0, ''])
      expect(parsePhc(stdout.trimEnd())).toMatchObject({ memory_kib: 19_456, iterations: 2 })
      const { verify } = await import('@node-rs/argon2')
      expect(await verify(stdout.trimEnd(), 'a good password')).toBe(true)
    },
  )

  it('[O-CLI-3] warns below 12 characters, however many bytes they have', async () => {
    const short = await run('hash-password', { stdin: typed('ä'.repeat(11)) })
    expect([short.code, short.stderr]).toEqual([0, expect.stringContaining('warning: ')])
    const long = await run('hash-password', { stdin: typed('ä'.repeat(12)) })
    expect(long.stderr).toBe('')
  })

  it.each([
    ['empty', ''],
    ['an empty line', '\nmore'],
    ['1025 bytes', 'x'.repeat(1_025)],
    ['no end', 'x'.repeat(100_000)],
    ['no UTF-8', Buffer.from([0x61, 0xff, 0x0a])],
  ])('[O-CLI-3] refuses input that is %s', async (_case, text) => {
    const { code, stdout } = await run('hash-password', { stdin: typed(text) })
    expect([code, stdout]).toEqual([2, ''])
  })

  it('[O-CLI-3] never takes the password as an argument, and does not repeat it', async () => {
    const { code, stderr } = await run('hash-password hunter2')
    expect(code).toBe(2)
    expect(stderr).not.toContain('hunter2')
  })

  it('[O-CLI-3] needs no usable configuration', async () => {
    const env = { GUILDHALL_CONSOLE__PASSWORD: '$argon2id$broken' }
    const { code } = await run('hash-password', { env, stdin: typed('a good password') })
    expect(code).toBe(0)
  })

  /** A terminal at which somebody types `keys`, one chunk each. */
  function terminalInput(keys: readonly string[]) {
    const modes: boolean[] = []
    const stdin = Object.assign(Readable.from(keys.map((key) => Buffer.from(key))), {
      isTTY: true,
      setRawMode: (raw: boolean) => modes.push(raw),
    })
    return { stdin, modes }
  }

  it('[O-CLI-3] reads from a terminal without echo, with corrections', async () => {
    const { stdin, modes } = terminalInput(['a good pass', 'x', '\u007f', 'wör', 'd\r'])
    const { code, stdout, stderr } = await run('hash-password', { stdin })
    const { verify } = await import('@node-rs/argon2')
    expect(await verify(stdout.trimEnd(), 'a good passwörd')).toBe(true)
    expect([code, stderr, modes]).toEqual([0, 'Password: \n', [true, false]])
  })

  it.each(['\u0003', '\u0004'])('[O-CLI-3] ends without a password at key %j', async (key) => {
    const { stdin, modes } = terminalInput(['secret', key])
    const { code, stdout } = await run('hash-password', { stdin })
    expect([code, stdout, modes]).toEqual([2, '', [true, false]])
  })
})
