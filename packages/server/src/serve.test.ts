import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Readiness } from '@guildhall/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeCertificate } from './kernel/http/connection/certificates.fixture.ts'
import { builtMain, startNodeProcess } from './testing/node-process.ts'

/** A node of which only the ready line is read: a test can do with its outputs as it likes. */
function spawnNode(variables: Readonly<Record<string, string>> = {}, flags = ['--log']) {
  const child = spawn(process.execPath, [builtMain, 'serve', ...flags], {
    // Where no earlier run has left a script.
    cwd: makeFolder(),
    env: { PATH: process.env.PATH, GUILDHALL_HTTP__BIND: '127.0.0.1:0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  // And all that it has said was read.
  return { child, exited: once(child, 'close') }
}

async function readyUrl({ child }: ReturnType<typeof spawnNode>): Promise<string> {
  const [line] = await once(child.stdout, 'data')
  return / ready http=(\S+)/.exec(String(line))?.[1] ?? ''
}

it('can be run as a file where `env` takes nothing but a name, as BusyBox does', () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  expect(readFileSync(main, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
})

it.each([
  ['a folder', 'folder', 'the database file cannot be used: unable to open database file'],
  ['a file of something else', 'text', 'the database file cannot be used: file is not a database'],
  ['a file in no folder', 'none/store.db', 'the folder of the database file does not exist: '],
])(
  '[O-DB-1] names the reason, without a stack, when its database is %s',
  async (_, name, reason) => {
    const folder = mkdtempSync(join(tmpdir(), 'guildhall-start-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    mkdirSync(join(folder, 'folder'))
    writeFileSync(join(folder, 'text'), 'this is no database'.repeat(100))
    const { child, exited } = spawnNode({ GUILDHALL_DATABASE__URL: `sqlite:${join(folder, name)}` })
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    expect((await exited)[0]).toBe(1)
    expect(said).toContain(`the node could not start reason="${reason}`)
    expect(said).not.toMatch(/^ +at /m)
  },
)

it.each([
  ['http.bind', ''],
  ['metrics.bind', 'true'],
])('[O-STA-3] names the key %s of an address that is in use', async (key, enabled) => {
  const taken = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const { child, exited } = spawnNode({
    GUILDHALL_METRICS__ENABLED: enabled,
    [`GUILDHALL_${key.toUpperCase().replace('.', '__')}`]: `127.0.0.1:${port}`,
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  expect((await exited)[0]).toBe(1)
  expect(said).toContain(`reason="${key} cannot be used: listen EADDRINUSE`)
})

/** Runs a node that has a script until it serves and then to its end; answers with what it said. */
async function saidBy(flags: string[], variables: Readonly<Record<string, string>> = {}) {
  const folder = makeFolder()
  const script = "console.log('from the game')\nguildhall.on_rpc('hello', () => '')"
  writeFileSync(join(folder, 'main.js'), script)
  const node = spawnNode({ GUILDHALL_RUNTIME__SCRIPTS_DIR: folder, ...variables }, flags)
  let said = ''
  node.child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const [line] = await once(node.child.stdout, 'data')
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
  return { ready: String(line), said }
}

it('[O-STA-3] says to a person where to go, in at most ten lines, and shows no log', async () => {
  const node = spawnNode({}, [])
  let said = ''
  for (const stream of [node.child.stdout, node.child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
  }
  await vi.waitFor(() => expect(said).toContain('Try next'))
  expect(said.trimEnd().split('\n').length).toBeLessThanOrEqual(10)
  expect(said).toMatch(/^guildhall \S+ ready http=/m)
  expect(said).toMatch(/ WARN {2}node: console\.username and console\.password are the defaults/)
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
  expect(said).toContain('Guildhall stops.')
  expect(said).not.toContain(' INFO ')
})

it('shows a person what the script of a game prints', async () => {
  const { said } = await saidBy([])
  expect(said).toMatch(/ INFO {2}script: .*from the game/)
  expect(said).not.toContain(' INFO  node:')
})

it.each([
  ['--log', ['--log'], {}],
  ['a level of its own', ['--log-level', 'info'], {}],
  ['a level of the environment', [], { GUILDHALL_LOGGING__LEVEL: 'info' }],
])('[O-LOG-1] prints the log with %s, and no words of welcome', async (_, flags, variables) => {
  const { said } = await saidBy(flags, variables)
  expect(said).toMatch(/ INFO {2}node: migrated the schema/)
  expect(said).toMatch(/ INFO {2}node: stopping signal=SIGTERM/)
  expect(said).not.toContain('Try next')
})

it('[O-LOG-1] prints nothing but lines of JSON in format json', async () => {
  const { ready, said } = await saidBy([], { GUILDHALL_LOGGING__FORMAT: 'json' })
  expect(JSON.parse(ready)).toMatchObject({ event: 'ready' })
  const lines: { msg: string }[] = said
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ msg }) => msg)).toContain('migrated the schema')
})

it('[O-STP-1] [O-STP-3] counts the drain delay into the deadline, and ends there with 1', async () => {
  const node = await startNodeProcess({
    'shutdown.deadline_ms': '1000',
    'shutdown.drain_delay_ms': '60000',
  })
  expect(await node.stop()).toBe(1)
  expect(node.output()).toContain('unfinished_step="drain delay" rows_not_written=0')
})

it('[O-STP-1] [O-STP-2] [H-PUB-1] says that it drains, and ends at once at a second signal', async () => {
  const node = await startNodeProcess({ 'shutdown.drain_delay_ms': '20000' })
  const ask = async (path: string) => {
    const answer = await fetch(node.url + path)
    return { status: answer.status, body: await answer.json() }
  }
  process.kill(node.pid, 'SIGTERM')
  await vi.waitFor(async () => expect((await ask('/health/ready')).status).toBe(503))
  const { status, checks } = Readiness().parse((await ask('/health/ready')).body)
  expect(status).toBe('not_ready')
  expect(checks.at(-1)).toEqual({ name: 'draining', ok: false })
  expect(await ask('/health')).toMatchObject({ status: 503, body: { status: 'unhealthy' } })
  expect(await ask('/health/live')).toEqual({ status: 200, body: { status: 'live' } })
  expect(await ask('/status')).toMatchObject({ status: 200, body: { status: 'unhealthy' } })
  expect((await ask('/v1/account')).status).toBe(401)
  expect(await node.stop()).toBe(143)
})

/** Ends what is left of a process and its children. */
function endGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nothing is left.
  }
}

it.runIf(process.platform !== 'win32')(
  '[O-STP-1] ends in order when npm and its shell, which take the signal, are gone',
  async () => {
    // What npm runs: a shell, which does not hand on what it is sent.
    const shell = spawn(
      '/bin/sh',
      ['-c', `"$0" "$1" serve --log & wait`, process.execPath, builtMain],
      {
        cwd: tmpdir(),
        env: {
          PATH: process.env.PATH,
          GUILDHALL_HTTP__BIND: '127.0.0.1:0',
          npm_lifecycle_event: 'start',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      },
    )
    onTestFinished(() => endGroup(shell.pid))
    let said = ''
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on('data', (chunk) => {
        said += chunk
      })
    }
    // Both streams end when the node has ended, which holds them too.
    const ended = Promise.all([once(shell.stdout, 'end'), once(shell.stderr, 'end')])
    await vi.waitFor(() => expect(said).toMatch(/ ready http=/))
    const url = / ready http=(\S+)/.exec(said)?.[1] ?? ''
    shell.kill('SIGTERM')
    await ended
    expect(said).toContain('stopping signal=SIGTERM')
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
  },
)

it('[O-STP-3] ends although nobody reads its log', async () => {
  const node = spawnNode({ GUILDHALL_LOGGING__LEVEL: 'trace' })
  const url = await readyUrl(node)
  // Far more than the pipe holds.
  const path = `/${'x'.repeat(200)}`
  for (let i = 0; i < 1000; i += 1) await (await fetch(url + path)).arrayBuffer()
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
})

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('[O-STP-1] ends in order when it is asked to during its start', async () => {
  const folder = makeFolder()
  writeFileSync(join(folder, 'main.js'), "console.log('loading')\nawait new Promise(() => {})\n")
  const node = spawnNode({
    GUILDHALL_DATABASE__URL: `sqlite:${join(folder, 'guildhall.db')}`,
    GUILDHALL_RUNTIME__SCRIPTS_DIR: folder,
    GUILDHALL_RUNTIME__LOAD_TIMEOUT_MS: '300000',
  })
  let said = ''
  node.child.stderr.on('data', (chunk) => {
    said += chunk
  })
  await vi.waitFor(() => expect(said).toContain('loading'))
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
  expect(said).toContain('stopped during the start')
  // Its boot was marked as ended: the next start has nothing to report of it.
  writeFileSync(join(folder, 'main.js'), "guildhall.on_rpc('x', () => 'x')\n")
  const next = await startNodeProcess({
    'database.url': `sqlite:${join(folder, 'guildhall.db')}`,
    'runtime.scripts_dir': folder,
  })
  expect(await next.stop()).toBe(0)
  expect(next.output()).not.toContain('did not end in order')
})

it('[O-STP-1] does not wait for a database that does not come when it is asked to end', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void silent.close())
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const node = spawnNode({
    GUILDHALL_DATABASE__URL: `postgres://nobody@127.0.0.1:${port}/nothing`,
    GUILDHALL_DATABASE__STARTUP_WAIT_MS: '600000',
  })
  const [socket] = await once(silent, 'connection')
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
  socket.destroy()
})

it('[O-TLS-3] looks for a new certificate at SIGHUP', async () => {
  const folder = makeFolder()
  const files = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') }
  const issue = () => {
    const pair = makeCertificate({ fromUnixMs: 1_600_000_000_000, untilUnixMs: 4_000_000_000_000 })
    writeFileSync(files.certificate, pair.certificate)
    writeFileSync(files.key, pair.privateKey)
  }
  issue()
  const node = await startNodeProcess({
    'http.tls.certificate_file': files.certificate,
    'http.tls.private_key_file': files.key,
    'http.tls.reload_interval_ms': '3600000',
  })
  issue()
  process.kill(node.pid, 'SIGHUP')
  await vi.waitFor(() => expect(node.output()).toContain('get the new certificate'))
  expect(await node.stop()).toBe(0)
})

it('[O-TLS-3] goes on at SIGHUP also without a certificate', async () => {
  const node = await startNodeProcess()
  process.kill(node.pid, 'SIGHUP')
  expect((await fetch(`${node.url}/health/live`)).status).toBe(200)
  expect(await node.stop()).toBe(0)
})

it('[O-STA-3] serves also when nobody is there for its ready line', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  const port = typeof address === 'object' ? address?.port : 0
  probe.close()
  await once(probe, 'close')
  const node = spawnNode({ GUILDHALL_HTTP__BIND: `127.0.0.1:${port}` })
  node.child.stdout.destroy()
  node.child.stderr.resume()
  await vi.waitFor(async () =>
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200),
  )
  node.child.kill('SIGTERM')
  expect(await node.exited).toEqual([0, null])
})
