import { afterAll, describe, expect, it } from 'vitest'
import type { Key } from '../key.ts'
import { createWorkspace } from '../load.fixture.ts'
import { keys } from '../schema.ts'
import { environmentName } from './environment.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())

/** A value of a key that is not its default, as the environment writes it. */
function otherText(name: string, key: Key): string {
  const chosen: Record<string, string> = {
    'cluster.nats_url': 'nats://127.0.0.1:4222',
    'console.password': 'a password of its own',
    'console.username': 'root',
    'console.viewer_password': 'a password for viewers',
    'console.viewer_username': 'guest',
    'database.url': 'sqlite:game.db',
    'logs.audit_chain_key': 'k'.repeat(32),
    'logging.level': 'warn,http=debug',
    'metrics.path': '/m',
    'runtime.language': 'js',
    'http.trusted_proxies': '10.0.0.0/8, fd00::/8',
    'runtime.outbound_http.allowed_hosts': 'a.example,b.example',
    'sessions.refresh_ttl_sec': '2592001',
  }
  if (chosen[name] !== undefined) return chosen[name]
  switch (key.kind) {
    case 'boolean':
      return String(!key.default)
    case 'integer':
      return String(key.default === key.max ? key.max - 1 : Number(key.default ?? key.min) + 1)
    case 'choice':
      return key.choices.find((choice) => choice !== key.default) ?? ''
    case 'path':
      return '/somewhere/else'
    case 'integers':
      return '8080,9090'
    case 'indexes':
      return '[{"name":"by_level","collection":"saves","fields":["level"]}]'
    case 'operators':
      return '[{"username":"ana","password":"a password of hers","role":"viewer"}]'
    case 'strings':
      return key.format.allowed.includes('folder') ? 'common' : 'https://a.example'
    case 'string':
      if (key.format.allowed.startsWith('HOST:PORT')) return '127.0.0.1:9999'
      if (key.format.allowed.startsWith('postgres:')) return 'postgres://ana:secret@127.0.0.1/game'
      return key.format.allowed.includes('https:') ? 'https://b.example/' : 'other'
  }
}

function valueAt(config: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((value, part) => {
    return typeof value === 'object' && value !== null
      ? Object.entries(value).find(([it]) => it === part)?.[1]
      : undefined
  }, config)
}

describe('the environment', () => {
  it.each([...keys])('[O-ENV-5] sets %s under the name that follows from it', async (name, key) => {
    const env = { [environmentName(name)]: otherText(name, key) }
    const problems = await workspace.problems({ env })
    if (problems.length > 0) {
      // It arrived, and only a rule stands against the value.
      expect(problems.join()).toMatch(/both or neither|durable backend|without|cluster.enabled/)
      expect(problems.join()).toContain(`environment ${environmentName(name)}`)
      return
    }
    const { config, sources } = await workspace.load({ env })
    expect(valueAt(config, name)).toBeDefined()
    expect(valueAt(config, name)).not.toEqual(key.default)
    expect(sources.get(name)?.text).toBe(`environment ${environmentName(name)}`)
  })

  it('[O-ENV-1] joins sections and key by two underscores', () => {
    expect(environmentName('http.bind')).toBe('GUILDHALL_HTTP__BIND')
    expect(environmentName('authentication.limits.source.limit')).toBe(
      'GUILDHALL_AUTHENTICATION__LIMITS__SOURCE__LIMIT',
    )
  })

  it.each([
    ['GUILDHALL_HTTP__OPENAPI', 'TRUE'],
    ['GUILDHALL_HTTP__OPENAPI', '1'],
    ['GUILDHALL_HTTP__OPENAPI', ' true'],
    ['GUILDHALL_ROOMS__MAX_ROOMS', '1e3'],
    ['GUILDHALL_ROOMS__MAX_ROOMS', '0x10'],
    ['GUILDHALL_ROOMS__MAX_ROOMS', '1_000'],
    ['GUILDHALL_ROOMS__MAX_ROOMS', '010'],
    ['GUILDHALL_ROOMS__MAX_ROOMS', '10.0'],
    ['GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS', '80,,443'],
    ['GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS', '["80"]'],
    ['GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS', '[80'],
    ['GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS', '[80.5]'],
    ['GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS', '[]'],
    ['GUILDHALL_HTTP__CORS_ORIGINS', '{"a":1}'],
    ['GUILDHALL_STORAGE__INDEXES', 'name=a'],
    ['GUILDHALL_STORAGE__INDEXES', '[1]'],
  ])('[O-ENV-2] refuses %s=%s', async (name, text) => {
    const [problem, ...more] = await workspace.problems({ env: { [name]: text } })
    expect(problem).toContain(`(environment ${name}): `)
    expect(problem).toContain('; allowed: ')
    expect(problem?.length).toBeLessThan(600)
    expect(more).toEqual([])
  })

  it('[O-ENV-2] refuses a number of any length with a short message', async () => {
    const env = { GUILDHALL_ROOMS__MAX_ROOMS: '9'.repeat(50_000) }
    const [problem] = await workspace.problems({ env })
    expect(problem).toContain('rooms.max_rooms (environment GUILDHALL_ROOMS__MAX_ROOMS): ')
    expect(problem?.length).toBeLessThan(300)
  })

  it.each([
    ['80, 443 ,8080', [80, 443, 8080]],
    ['[80, 443]', [80, 443]],
    [' [8080] ', [8080]],
  ])('[O-ENV-2] reads the list %j', async (text, ports) => {
    const env = { GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS: text }
    const { config } = await workspace.load({ env })
    expect(config.runtime.outbound_http.allowed_ports).toEqual(ports)
  })

  it('[O-ENV-3] takes an empty variable as not set, even under an unknown name', async () => {
    const env = { GUILDHALL_HTTP__BIND: '', GUILDHALL_HTTP__NOTHING: '', GUILDHALL_CONFIG: '' }
    const { config, sources } = await workspace.load({ env, file: 'http.bind = "[::1]:1"' })
    expect(config.http.bind).toBe('[::1]:1')
    expect(sources.get('http.bind')?.layer).toBe('file')
  })

  it.each([
    ['GUILDHALL_HTTP__BND', 'GUILDHALL_HTTP__BIND'],
    ['GUILDHALL_http__bind', 'GUILDHALL_HTTP__BIND'],
    ['GUILDHALL_DATABASE__URL_FIEL', 'GUILDHALL_DATABASE__URL_FILE'],
    ['GUILDHALL_CONSOLE__PASWORD', 'GUILDHALL_CONSOLE__PASSWORD'],
  ])('[O-ENV-4] refuses %s and suggests %s', async (name, nearest) => {
    expect(await workspace.problems({ env: { [name]: 'x' } })).toEqual([
      `unknown key "${name}" (environment ${name}); did you mean "${nearest}"?`,
    ])
  })

  it('[O-ENV-4] knows no key without a section', async () => {
    expect(await workspace.problems({ env: { GUILDHALL__BIND: 'x' } })).toEqual([
      expect.stringContaining('unknown key "GUILDHALL__BIND" (environment GUILDHALL__BIND)'),
    ])
  })

  it('[O-ENV-4] suggests nothing for a name that resembles none', async () => {
    const env = { GUILDHALL_QQQQ__WWWWWWWW: 'x' }
    expect(await workspace.problems({ env })).toEqual([
      'unknown key "GUILDHALL_QQQQ__WWWWWWWW" (environment GUILDHALL_QQQQ__WWWWWWWW)',
    ])
  })

  it('[O-ENV-4] ignores and lists names without two underscores', async () => {
    const env = {
      GUILDHALL_PORT: 'tcp://10.0.0.1:7350',
      GUILDHALL_SERVICE_HOST: '10.0.0.1',
      GUILDHALL_CONFIG: '',
      OTHER__NAME: 'x',
    }
    const { ignored_environment: ignored } = await workspace.load({ env })
    expect(ignored).toEqual(['GUILDHALL_PORT', 'GUILDHALL_SERVICE_HOST'])
  })
})
