import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'
import { describeConfig, stripUrls } from './redact.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())

describe('the description of a configuration', () => {
  it('[H-CFG-1] has one group per section, groups and keys in text order, without unset keys', async () => {
    const { config } = await workspace.load({
      file: 'database.url = "sqlite:guildhall.db"\nconsole.viewer_username = "guest"',
    })
    const groups = describeConfig(config)
    expect(groups.map(({ name }) => name)).toEqual(groups.map(({ name }) => name).toSorted())
    for (const { entries } of groups) {
      expect(entries.map(({ key }) => key)).toEqual(entries.map(({ key }) => key).toSorted())
    }
    expect(groups.find(({ name }) => name === 'console')?.entries).toEqual([
      { key: 'operators', value: '[]' },
      { key: 'password', value: '<redacted>' },
      { key: 'token_expiry_sec', value: '3600' },
      { key: 'username', value: 'admin' },
      { key: 'viewer_username', value: 'guest' },
    ])
    const database = groups.find(({ name }) => name === 'database')?.entries
    expect(database?.at(-1)).toEqual({ key: 'url', value: 'sqlite:guildhall.db' })
  })

  it('[H-CFG-1] writes values as TOML text, texts without quotes', async () => {
    const { config } = await workspace.load({
      file:
        'http.trusted_proxies = ["10.0.0.0/8", "fd00::/8"]\n' +
        '[[storage.indexes]]\nname = "a"\ncollection = "b\\"c"\nfields = ["d", "e"]',
    })
    const values = new Map(
      describeConfig(config).flatMap(({ name, entries }) =>
        entries.map(({ key, value }) => [`${name}.${key}`, value]),
      ),
    )
    expect(values.get('http.openapi')).toBe('true')
    expect(values.get('http.bind')).toBe('127.0.0.1:7350')
    expect(values.get('http.trusted_proxies')).toBe('["10.0.0.0/8", "fd00::/8"]')
    expect(values.get('http.cors_origins')).toBe('[]')
    expect(values.get('runtime.outbound_http.allowed_ports')).toBe('[80, 443]')
    expect(values.get('transport.quic.bind')).toBe('127.0.0.1:7351')
    expect(values.get('storage.indexes')).toBe(
      '[{ name = "a", collection = "b\\"c", fields = ["d", "e"] }]',
    )
    expect(values.has('http.tls.certificate_file')).toBe(false)
    expect(values.has('database.url')).toBe(false)
  })

  it('[H-CFG-2] hides passwords, verifiers and keys', async () => {
    const { config } = await workspace.load({
      env: {
        GUILDHALL_CONSOLE__VIEWER_PASSWORD: 'a password for viewers',
        GUILDHALL_LOGS__AUDIT_CHAIN_KEY: 'k'.repeat(32),
      },
    })
    const text = JSON.stringify(describeConfig(config))
    expect(text.match(/<redacted>/g)).toHaveLength(3)
    expect(text).not.toContain('a password for viewers')
    expect(text).not.toContain('kkk')
  })
})

describe('[O-CFG-9] a URL that is shown', () => {
  it.each([
    ['memory:', 'memory:'],
    ['sqlite:/data/game.db', '/data/game.db'],
    ['postgres://db.example:5432/game', 'postgres://db.example:5432/game'],
    ['postgres://u:p4ss@db.example/game', 'postgres://db.example/game'],
    ['postgres://u@db.example/game', 'postgres://db.example/game'],
    [
      'postgresql://db/game?sslmode=require&sslpassword=p4ss&PassFile=x&user=u',
      'postgresql://db/game?sslmode=require',
    ],
    ['postgres://db/game?api%5Fkey=p4ss', 'postgres://db/game'],
    ['postgres://db/game#p4ss', 'postgres://db/game'],
    ['postgres://u:p4ss@%2Frun%2Fpostgresql/game', 'postgres://%2Frun%2Fpostgresql/game'],
    [
      'postgres:///game?host=/run/postgresql&password=p4ss',
      'postgres:///game?host=%2Frun%2Fpostgresql',
    ],
    ['postgres://u:p4/ss@db/game', '<redacted>'],
    ['postgres://u:12?p4ss@db/game', '<redacted>'],
    ['postgres://u:12#p4ss@db/game', '<redacted>'],
    ['postgres://u:12,34@db/game', 'postgres://db/game'],
    ['p4ss', '<redacted>'],
    ['nats://u:p4ss@a:4222, tls://b:4222', 'nats://a:4222,tls://b:4222'],
  ])('%s becomes %s', (url, shown) => {
    expect(stripUrls(url).replace('sqlite:', '')).toBe(shown.replace('sqlite:', ''))
  })

  it('never shows its user, its password or a secret parameter', () => {
    const secret = fc.string({ minLength: 3, maxLength: 20 }).map((noise) => `Zx9${noise}`)
    fc.assert(
      fc.property(secret, secret, (user, password) => {
        const [u, p] = [encodeURIComponent(user), encodeURIComponent(password)]
        const shown = stripUrls(`postgres://${u}:${p}@db.example:5432/game?a=b&password=${p}`)
        expect(shown).toBe('postgres://db.example:5432/game?a=b')
        const careless = stripUrls(`postgres://u:${password}@db.example/game`)
        expect(careless).not.toContain('Zx9')
      }),
    )
  })
})
