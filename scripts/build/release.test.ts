import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPlayer } from '@guildhall/client'
import { createConsoleClient } from '@guildhall/client/console'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildDashboard } from '../../packages/dashboard/src/build/build-page.ts'
import { makeRelease, packRelease, type ReleaseArchive } from './release.ts'
import { stripped } from './stripped.ts'

/** The release as an operator gets it, on a machine without npm and Node.js. */

const run = promisify(execFile)
const name = 'guildhall-test'

let folder = ''
let archive: ReleaseArchive
let program = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guildhall-release-'))
  await buildDashboard()
  await mkdir(join(folder, 'made'))
  await makeRelease(join(folder, 'made', name), {})
  // The published one is packed as tightly as gzip can, which takes ten times as long.
  archive = await packRelease(join(folder, 'made', name), 1)
  await run('tar', ['-xzf', archive.file, '-C', folder])
  await rm(join(folder, 'made', name), { recursive: true })
  program = join(folder, name, 'bin/guildhall')
}, 240_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Nothing of this machine but a folder that has no program. */
const nothing = { PATH: '/nonexistent', GUILDHALL_TRANSPORT__QUIC__ENABLED: 'false' }

async function openFolder(): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'deployment-'))
  const toml = '[database]\nurl = "sqlite:game.db"\n[http]\nbind = "127.0.0.1:0"\n'
  await writeFile(join(cwd, 'guildhall.toml'), toml)
  return cwd
}

type Node = { url: string; stop(): Promise<unknown[]> }

async function start(cwd: string, from = program): Promise<Node> {
  const node = spawn(from, ['serve'], { cwd, env: nothing, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void node.kill('SIGKILL'))
  let said = ''
  node.stderr.on('data', (text) => (said += text))
  const [line] = await Promise.race([once(node.stdout, 'data'), once(node, 'exit')])
  const [, url] = / ready http=(\S+)/.exec(String(line)) ?? []
  if (url === undefined) throw new Error(`it ended with ${line}: ${said}`)
  return {
    url,
    stop() {
      const exited = once(node, 'exit')
      node.kill('SIGTERM')
      return exited
    },
  }
}

describe('a release', () => {
  it('serves players and the dashboard, is backed up and restored, with nothing on the PATH', async () => {
    const cwd = await openFolder()
    await mkdir(join(cwd, 'game'))
    await writeFile(join(cwd, 'game/main.ts'), "guildhall.on_rpc('two', (): number => 2)")
    const first = await start(cwd)
    const device = { id: 'a-device-of-ana' }
    const player = createPlayer(first.url)
    await player.signIn.device({ ...device, create: true, username: 'ana' })
    const email = { email: 'c@example.com', password: 'right horse', username: 'cleo' }
    await createPlayer(first.url).signIn.email({ ...email, create: true })
    const connection = await player.connect()
    expect(await connection.rpc('two')).toBe(2)
    await connection.close()
    const page = await fetch(`${first.url}/dashboard`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')])
    const client = createConsoleClient(first.url)
    expect(await client.signIn({ username: 'admin', password: 'password' })).toMatchObject({
      role: 'admin',
    })
    await run(program, ['backup', '--to', 'copy.db'], { cwd, env: nothing })
    await createPlayer(first.url).signIn.device({
      id: 'a-device-of-ben',
      create: true,
      username: 'ben',
    })
    expect(await first.stop()).toEqual([0, null])

    await run(program, ['restore', '--from', 'copy.db'], { cwd, env: nothing })
    const again = await start(cwd)
    expect((await createPlayer(again.url).signIn.device(device)).user_id).toBeDefined()
    await expect(createPlayer(again.url).signIn.device({ id: 'a-device-of-ben' })).rejects.toThrow()
    expect(await again.stop()).toEqual([0, null])
  }, 120_000)

  it('is started by a link from elsewhere, and says its version', async () => {
    const link = join(folder, 'guildhall')
    await symlink(join(name, 'bin/guildhall'), link)
    const { PATH } = process.env
    const { stdout } = await run(link, ['version', '--json'], { cwd: tmpdir(), env: { PATH } })
    expect(JSON.parse(stdout)).toMatchObject({ engine: `node ${process.versions.node}` })
  })

  it('says what it has inside, under which licences, and how to upgrade', async () => {
    const at = (file: string) => readFile(join(folder, name, file), 'utf8')
    const { components, bomFormat } = JSON.parse(await at('sbom.cdx.json'))
    expect(bomFormat).toBe('CycloneDX')
    const names = components.map((each: { name: string }) => each.name)
    expect(names).toEqual(expect.arrayContaining(['node', '@node-rs/argon2', 'pg', 'react', 'zod']))
    expect(names.filter((each: string) => /vitest|biome|esbuild/.test(each))).toEqual([])
    const licences = await at('LICENSES.txt')
    for (const each of names) expect(licences).toContain(`${each} `)
    expect(licences).toContain('Permission is hereby granted')
    expect(await at('UPGRADING.md')).toContain('What is new')
    expect(await readdir(join(folder, name))).toContain('LICENSE')
  })

  it('has a checksum, and nothing of the machine that made it', async () => {
    const line = await readFile(`${archive.file}.sha256`, 'utf8')
    expect(line).toBe(`${archive.sha256}  ${basename(archive.file)}\n`)
    // At its tightest it is a tenth smaller, and has to be at most 45 MB.
    expect(archive.bytes).toBeLessThan(49_000_000)
    const lib = join(folder, name, 'lib')
    for (const file of await readdir(lib)) {
      if (!/\.m?js(\.map)?$/.test(file)) continue
      expect(await readFile(join(lib, file), 'utf8')).not.toContain(dirname(import.meta.dirname))
    }
  })
})

describe('a release with engines', () => {
  const plain = "guildhall.on_rpc('two', () => 1 + 1)"
  const inPython = `import guildhall\n@guildhall.on_rpc('two')\ndef two(ctx, body): return 1 + 1`
  const scripts: [string, string, string][] = [
    ['main.js', 'sandboxed', plain],
    ['main.lua', 'sandboxed', "guildhall.on_rpc('two', function() return 1 + 1 end)"],
    ['main.py', 'trusted', inPython],
  ]
  let withEngines = ''

  beforeAll(async () => {
    const made = join(folder, 'engines')
    await makeRelease(made, { engines: true })
    withEngines = join(made, 'bin/guildhall')
  }, 120_000)

  it.each(scripts)(
    'runs %s, %s',
    async (file, tier, source) => {
      const cwd = await openFolder()
      await appendFile(join(cwd, 'guildhall.toml'), `[runtime]\ntier = "${tier}"\n`)
      await mkdir(join(cwd, 'game'))
      await writeFile(join(cwd, 'game', file), source)
      const node = await start(cwd, withEngines)
      const player = createPlayer(node.url)
      await player.signIn.device({ id: 'a-device-of-ana', create: true, username: 'ana' })
      const connection = await player.connect()
      expect(await connection.rpc('two')).toBe(2)
      await connection.close()
      expect(await node.stop()).toEqual([0, null])
    },
    120_000,
  )

  it('says what engines it has inside', async () => {
    const bill = JSON.parse(await readFile(join(folder, 'engines/sbom.cdx.json'), 'utf8'))
    const names = bill.components.map((each: { name: string }) => each.name)
    expect(names).toEqual(expect.arrayContaining(['pyodide', 'quickjs-wasi', 'wasmoon']))
  })
})

it('a stripped program runs, and what is none stays as it is', async () => {
  const whole = await readFile(process.execPath)
  const small = stripped(whole)
  expect(stripped(small).equals(small)).toBe(true)
  const file = join(folder, 'node')
  await writeFile(file, small)
  await chmod(file, 0o755)
  expect((await run(file, ['-p', '6 * 7'])).stdout).toBe('42\n')
  expect(stripped(Buffer.from('no program, and longer than a head'))).toHaveLength(34)
})
