import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testBackends } from '../../database/testing/backends.ts'
import { onServer } from '../../database/testing/postgres-server.ts'
import type { ChainReport } from '../../features/audit/chain/verify.ts'
import { createCaller } from '../../testing/api.ts'
import { type NodeProcess, startNodeProcess } from '../../testing/node-process.ts'
import { runCommand } from '../run-command.ts'

const key = 'k'.repeat(32)

/** Runs a command line as an operator would beside the node. */
async function run(line: string, env: Record<string, string> = {}) {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text
    },
  })
  const terminal = {
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    cwd: tmpdir(),
  }
  const serve = async () => 99
  const code = await runCommand(line.split(' '), env, terminal, { serve })
  return { code, ...written }
}

/** The invariants of the store by name. */
const everyCheck = [
  'wallet',
  'accounts',
  'groups',
  'friends',
  'boards',
  'tournaments',
  'chat',
  'storage',
  'sequences',
  'matches',
  'api_keys',
  'audit',
  'schema',
]

const durable = testBackends.filter(({ name }) => name !== 'in-memory')

describe.each(durable)('looking at the store of a live node on $name', ({ name, open }) => {
  let test: TestDatabase
  let node: NodeProcess | undefined
  beforeEach(async () => {
    test = await open()
    await test.db.close()
  })
  afterEach(async () => {
    await node?.kill()
    node = undefined
    await test.dispose()
  })

  const env = (more: Record<string, string> = {}) => ({
    GUILDHALL_DATABASE__URL: test.url,
    ...more,
  })
  const verify = async (more?: Record<string, string>) => {
    const { stdout } = await run('audit verify --json', env(more))
    return JSON.parse(stdout) as ChainReport & { ok: boolean }
  }

  async function start(more: Record<string, string> = {}): Promise<NodeProcess> {
    node = await startNodeProcess({ 'database.url': test.url, ...more })
    return node
  }

  /** Each failed login leaves one entry; answers once all of them are sealed. */
  async function failLogins(at: NodeProcess, count: number, rows: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) {
      const body = { username: `nobody-${turn}`, password: 'wrong' }
      await createCaller(at.url)('POST', '/console/v1/login', { body })
    }
    await expect.poll(async () => (await verify()).rows).toBe(rows)
  }

  async function meddle(text: string): Promise<void> {
    if (name === 'postgres') return void (await onServer(test.url, text))
    const other = new DatabaseSync(test.url.slice('sqlite:'.length), { timeout: 5000 })
    other.exec(text)
    other.close()
  }

  it('[O-DB-7] [O-AUD-2] [O-AUD-3] finds a chain over restarts, and what was done to it', async () => {
    const first = await start()
    await failLogins(first, 3, 3)
    const report = await verify()
    expect(report).toMatchObject({ ok: true, rows: 3, head_seq: 3, unchecked: 0 })
    expect(await first.stop()).toBe(0)
    // The log holds the link that the chain ended with.
    expect(first.output()).toContain(`seq=3 hash=${report.head_hash}`)

    const second = await start()
    const link = `seq=3 hash=${report.head_hash}`
    await expect.poll(() => second.output()).toContain(link)
    await failLogins(second, 3, 6)
    const noted = `--expect 3:${report.head_hash}`
    expect(await run(`audit verify ${noted}`, env())).toMatchObject({ code: 0, stderr: '' })

    await meddle("UPDATE audit_entries SET actor = 'somebody' WHERE seq = 2")
    const found = await run('audit verify', env())
    expect([found.code, found.stdout]).toEqual([1, 'FAILED: seq 2 is changed or out of place\n'])
    const doctor = await run('doctor --json', env())
    const { ok, checks } = JSON.parse(doctor.stdout)
    expect([doctor.code, ok]).toEqual([1, false])
    const failed = checks.filter((check: { ok: boolean }) => !check.ok)
    expect(failed).toMatchObject([{ name: 'audit', violations: 1 }])
    expect(doctor.stdout).not.toContain('somebody')
    const health = await createCaller(second.url)('GET', '/health')
    expect(health.body).toMatchObject({ status: 'healthy' })
  })

  it('[O-AUD-5] verifies a keyed chain with the key, and says what it could not check', async () => {
    const keyed = { GUILDHALL_LOGS__AUDIT_CHAIN_KEY: key }
    await failLogins(await start({ 'logs.audit_chain_key': key }), 3, 3)
    expect(await verify(keyed)).toMatchObject({ ok: true, rows: 3, unchecked: 0 })
    const without = await run('audit verify', env())
    expect(without.code).toBe(0)
    expect(without.stdout).toContain('hashes of 3 rows were not checked')
    const other = await run(
      'audit verify',
      env({ GUILDHALL_LOGS__AUDIT_CHAIN_KEY: 'x'.repeat(32) }),
    )
    expect([other.code, other.stdout]).toEqual([1, 'FAILED: seq 1 is changed or out of place\n'])
    expect((await run('audit verify', env(keyed))).stdout).not.toContain('without the key')
  })

  it('[O-AUD-5] says what anybody who writes to the database can have made', async () => {
    await failLogins(await start(), 2, 2)
    const { code, stdout } = await run(
      'audit verify',
      env({ GUILDHALL_LOGS__AUDIT_CHAIN_KEY: key }),
    )
    expect(code).toBe(0)
    expect(stdout).toContain('\n2 rows were linked without the key')
    expect((await run('audit verify', env())).stdout).not.toContain('without the key')
  })

  it('[O-DOC-1] [O-CLI-2] the doctor finds a live store well, and writes nothing', async () => {
    const live = await start()
    const call = createCaller(live.url)
    const body = { id: 'device-1', create: true, username: 'ana' }
    expect((await call('POST', '/v1/auth/device', { body })).status).toBe(201)
    const { code, stdout, stderr } = await run('doctor', env())
    expect(code).toBe(0)
    // Which check it is at, while it is at it.
    const total = everyCheck.length
    const begun = stderr.trimEnd().split('\n')
    expect(begun[0]).toMatch(new RegExp(`^checking \\w+ \\(1 of ${total}\\)$`))
    expect(begun).toHaveLength(total)
    expect((await run('doctor --json', env())).stderr).toBe('')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(' ')).sort()).toEqual(
      everyCheck.map((check) => `ok ${check}`).sort(),
    )
    await meddle("UPDATE accounts SET state = 'disabled'")
    const found = await run('doctor --only accounts,wallet --limit 1', env())
    expect(found.code).toBe(1)
    expect(found.stdout).toMatch(/^FAILED accounts .*violations=1\n {7}"/m)
    expect(found.stdout).toMatch(/^ok {5}wallet /m)
    expect(found.stdout.match(/^(ok|FAILED)/gm)).toHaveLength(2)
    expect(found.stdout).not.toMatch(/ana|device-1/)
    for (const misspelt of ['walet', 'wallet,']) {
      const refused = await run(`doctor --only ${misspelt}`, env())
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toContain('unknown check')
    }
  })
})

describe.each(durable)('two nodes and one chain on $name', ({ name, open }) => {
  it.runIf(name === 'postgres')(
    '[O-SCH-1] [O-AUD-2] another node goes on where a killed one was',
    async () => {
      const test = await open()
      const config = { 'database.url': test.url, 'scheduler.lease_ttl_ms': '3000' }
      const nodes = await Promise.all(
        ['n-1', 'n-2'].map((id) => startNodeProcess({ ...config, 'server.node_id': id })),
      )
      const login = (url: string) =>
        createCaller(url)('POST', '/console/v1/login', {
          body: { username: 'nobody', password: 'wrong' },
        })
      const sealed = async () => {
        const { stdout } = await run('audit verify --json', { GUILDHALL_DATABASE__URL: test.url })
        const { ok, rows } = JSON.parse(stdout)
        return ok ? rows : stdout
      }
      for (const { url } of nodes) await login(url)
      await expect.poll(sealed).toBe(2)
      const holder = nodes.findIndex((node) => node.output().includes('took a lease lease=sealer'))
      const [killed, other] = holder === 0 ? nodes : nodes.toReversed()
      await killed?.kill()
      await login(other?.url ?? '')
      await expect.poll(sealed).toBe(3)
      await other?.stop()
      await test.dispose()
    },
  )
})

describe('commands that look at the store', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'guildhall-look-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['doctor', 'audit verify'])(
    '[O-CLI-2] %s has nothing to look at in memory',
    async (line) => {
      const { code, stdout, stderr } = await run(line)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('in-memory')
    },
  )

  it.each(['doctor', 'audit verify'])('[O-CLI-2] %s makes no file', async (line) => {
    const url = `sqlite:${join(folder, 'absent.db')}`
    const { code, stderr } = await run(line, { GUILDHALL_DATABASE__URL: url })
    expect([code, stderr]).toEqual([2, 'guildhall: the database file does not exist\n'])
  })

  it.each(['doctor', 'audit verify'])(
    '[O-CLI-1] %s ends with 2 when it could not run',
    async (line) => {
      const url = 'postgres://nobody@127.0.0.1:1/none'
      const env = { GUILDHALL_DATABASE__URL: url, GUILDHALL_DATABASE__STARTUP_WAIT_MS: '0' }
      expect((await run(line, env)).code).toBe(2)
    },
  )

  it.each([
    ['doctor --limit -1', '--limit takes a number'],
    ['doctor --limit 10001', '--limit takes a number'],
    ['doctor --only', '--only needs a value'],
    ['audit verify --expect 3', '--expect takes SEQ:HASH'],
    ['audit verify --expect 3:abc', '--expect takes SEQ:HASH'],
    ['audit verify --only audit', 'unknown flag'],
    ['audit', 'unknown command'],
    ['audit verfy', 'did you mean "audit verify"'],
  ])('[O-CLI-1] refuses %s', async (line, reason) => {
    const { code, stdout, stderr } = await run(line)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(reason)
  })

  it('explains itself', async () => {
    const { code, stdout } = await run('audit verify --help')
    expect(code).toBe(0)
    expect(stdout).toContain('--expect SEQ:HASH')
  })
})
