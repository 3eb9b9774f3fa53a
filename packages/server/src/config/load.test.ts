import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())
const isRoot = process.getuid?.() === 0

describe('the file', () => {
  it('[O-CFG-1] may be absent or empty', async () => {
    for (const given of [{}, { file: '' }, { file: '\ufeff\n# nothing\n' }]) {
      const { config, sources } = await workspace.load(given)
      expect(config.http.bind).toBe('127.0.0.1:7350')
      expect(sources.get('http.bind')).toEqual({ layer: 'default', text: 'default' })
    }
  })

  it('[O-CFG-1] is named by the flag, else by the variable, else discovered', async () => {
    const byFlag = workspace.write('flag.toml', 'rooms.max_rooms = 1')
    const byVariable = workspace.write('variable.toml', 'rooms.max_rooms = 2')
    const file = 'rooms.max_rooms = 3'
    const env = { GUILDHALL_CONFIG: byVariable }
    const rooms = async (given: Parameters<typeof workspace.load>[0]) => {
      return (await workspace.load(given)).config.rooms.max_rooms
    }
    expect(await rooms({ file, env, configPath: byFlag })).toBe(1)
    expect(await rooms({ file, env })).toBe(2)
    expect(await rooms({ file })).toBe(3)
  })

  it('[O-CFG-1] refuses the start when it was named and cannot be read', async () => {
    mkdirSync(join(workspace.cwd, 'folder'), { recursive: true })
    const large = workspace.write('large.toml', `# ${'x'.repeat(1_100_000)}`)
    const latin1 = workspace.write('latin1.toml', Buffer.from('a = "\xe9"', 'latin1'))
    const cases = [
      ['nowhere.toml', 'does not exist'],
      ['folder', 'is a folder'],
      [large, 'is larger than 1024 KiB'],
      [latin1, 'is not UTF-8'],
    ] as const
    for (const [configPath, wrong] of cases) {
      expect(await workspace.problems({ configPath })).toEqual([
        `${configPath}: ${wrong}; allowed: a TOML file`,
      ])
      expect(await workspace.problems({ env: { GUILDHALL_CONFIG: configPath } })).toHaveLength(1)
    }
  })

  it.skipIf(isRoot)('[O-CFG-1] refuses the start when it is there and unreadable', async () => {
    const configPath = workspace.write('closed.toml', '')
    chmodSync(configPath, 0o000)
    expect(await workspace.problems({ configPath })).toEqual([
      `${configPath}: may not be read by this user; allowed: a TOML file`,
    ])
  })

  it.each([
    ['a = ', 1],
    ['[http]\nbind = "x', 2],
    ['[http]\nopenapi = true\nopenapi = false', 3],
    ['http.bind = "127.0.0.1:1"\n[http]\nopenapi = true', 2],
    ['[console]\n\npassword = hunter2-hunter2', 3],
  ])('[O-CFG-3] names the line of what is no TOML in %j', async (file, line) => {
    const [problem, ...more] = await workspace.problems({ file })
    expect(problem).toMatch(new RegExp(`^guildhall\\.toml line ${line}: not valid TOML: \\S`))
    expect(problem).not.toContain('hunter2')
    expect(problem).not.toContain('\n')
    expect(more).toEqual([])
  })

  it('[O-CFG-2] may spell sections as tables, dotted keys or inline tables', async () => {
    for (const file of [
      '[http.tls]\nreload_interval_ms = 5000',
      'http.tls.reload_interval_ms = 5_000',
      'http = { tls = { reload_interval_ms = 0x1388 } }',
      '[http]\ntls."reload_interval_ms" = 5000',
      '\ufeff[http]\r\ntls = { reload_interval_ms = 5000 }\r\n',
    ]) {
      const { config } = await workspace.load({ file })
      expect(config.http.tls.reload_interval_ms).toBe(5000)
    }
  })
})

describe('the sources', () => {
  it('[O-CFG-2] replace each other key by key, from defaults to flags', async () => {
    const { config, sources } = await workspace.load({
      file: '[rooms]\nmax_rooms = 1\nmax_members = 1\n[party]\nmax_members = 3',
      env: { GUILDHALL_ROOMS__MAX_ROOMS: '2', GUILDHALL_ROOMS__MAX_MEMBERS: '2' },
      set: ['rooms.max_rooms=3', 'rooms.max_rooms=4'],
    })
    expect(config.rooms).toMatchObject({ max_rooms: 4, max_members: 2 })
    expect(config.party.max_members).toBe(3)
    expect(sources.get('rooms.max_rooms')).toEqual({ layer: 'flag', text: 'flag --set' })
    expect(sources.get('party.max_members')).toEqual({
      layer: 'file',
      text: 'guildhall.toml line 5',
    })
  })

  it('[O-CFG-2] replace a list as a whole', async () => {
    const { config } = await workspace.load({
      file: 'runtime.outbound_http.allowed_ports = [80, 443]',
      env: { GUILDHALL_RUNTIME__OUTBOUND_HTTP__ALLOWED_PORTS: '8080' },
    })
    expect(config.runtime.outbound_http.allowed_ports).toEqual([8080])
  })

  it('[O-CFG-2] are checked only where they win', async () => {
    const file = 'rooms.max_rooms = "many"'
    const { config } = await workspace.load({ file, set: ['rooms.max_rooms=7'] })
    expect(config.rooms.max_rooms).toBe(7)
    expect(await workspace.problems({ file })).toHaveLength(1)
  })

  it('[O-CFG-3] have all their problems reported together, one line each', async () => {
    const problems = await workspace.problems({
      file: '[http]\nbnd = 1\nopenapi = 1\n[nothing]\n[rooms]\nmax_rooms = 0',
      env: { GUILDHALL_PARTY__MAX_MEMBERS: '256', GUILDHALL_PARTY__MAX: '1' },
      set: ['http.bind=nowhere', 'http.bend=x'],
    })
    expect(problems.toSorted()).toEqual([
      'http.bind (flag --set): "nowhere" is not valid; allowed: HOST:PORT, such as ' +
        '127.0.0.1:7350 or [::1]:7350',
      'http.openapi (guildhall.toml line 3): is an integer; allowed: true or false',
      'party.max_members (environment GUILDHALL_PARTY__MAX_MEMBERS): 256 is out of bounds; ' +
        'allowed: 2 to 255',
      'rooms.max_rooms (guildhall.toml line 6): 0 is out of bounds; allowed: 1 to 1000000',
      'unknown key "GUILDHALL_PARTY__MAX" (environment GUILDHALL_PARTY__MAX)',
      'unknown key "http.bend" (flag --set); did you mean "http.bind"?',
      'unknown key "http.bnd" (guildhall.toml line 2); did you mean "http.bind"?',
      'unknown key "nothing" (guildhall.toml line 4)',
    ])
  })
})

describe('an unknown key', () => {
  it.each([
    [
      '[http]\n\nbnd = 1',
      'unknown key "http.bnd" (guildhall.toml line 3); did you mean "http.bind"?',
    ],
    ['htpp.bind = 1', 'unknown key "htpp.bind" (guildhall.toml line 1); did you mean "http.bind"?'],
    [
      '"http.bind" = 1',
      'unknown key "http.bind" (guildhall.toml line 1); did you mean "http.bind"?',
    ],
    ['__proto__ = 1', 'unknown key "__proto__" (guildhall.toml line 1)'],
    ['http.constructor = 1', 'unknown key "http.constructor" (guildhall.toml line 1)'],
    ['http.bind.kind = 1', 'http.bind (guildhall.toml line 1): is a table; allowed: HOST:PORT'],
    ['http = "x"', 'http (guildhall.toml line 1): is a string; allowed: a section'],
    ['[[http]]\nbind = 1', 'http (guildhall.toml line 1): is a list; allowed: a section'],
    ['http.bind_file = "x"', 'unknown key "http.bind_file" (guildhall.toml line 1)'],
    ['"a\\nb\\u202e" = 1', 'unknown key "a\\nb\\u{202e}" (guildhall.toml line 1)'],
  ])('[O-CFG-4] in %j refuses the start', async (file, problem) => {
    const [first, ...more] = await workspace.problems({ file })
    expect(first?.startsWith(problem)).toBe(true)
    expect(more).toEqual([])
  })
})

describe('a value', () => {
  it.each([
    ['rooms.max_rooms = 10.0', 'is a number with a fraction'],
    ['rooms.max_rooms = "10"', 'is a string'],
    ['rooms.max_rooms = true', 'is a boolean'],
    ['rooms.max_rooms = [1]', 'is a list'],
    ['rooms.max_rooms = {}', 'is a table'],
    ['rooms.max_rooms = nan', 'is a number with a fraction'],
    ['rooms.max_rooms = 1979-05-27', 'is a date'],
    ['rooms.max_rooms = 0', '0 is out of bounds'],
    ['rooms.max_rooms = -1', '-1 is out of bounds'],
    ['rooms.max_rooms = 1000001', '1000001 is out of bounds'],
    ['rooms.max_rooms = 9007199254740993', '9007199254740993 is out of bounds'],
    ['transport.websocket.heartbeat_interval_ms = 999', '999 is out of bounds'],
    ['http.openapi = "true"', 'is a string'],
    ['http.openapi = 1', 'is an integer'],
    ['server.node_id = 5', 'is an integer'],
    ['server.node_id = ""', '"" is not valid'],
    ['server.node_id = "a b"', '"a b" is not valid'],
    ['server.node_id = "a\\u0000"', '"a\\u0000" is not valid'],
    ['logging.format = "JSON"', '"JSON" is not valid'],
    ['logging.level = "loud"', '"loud" is not valid'],
    ['console.username = " "', '" " is not valid'],
    ['runtime.scripts_dir = ""', '"" is not valid'],
    ['lag_diagnostics.raw_root = "raw"', '"raw" is not valid'],
    ['http.trusted_proxies = ["10.0.0.0/8", "10.0.0.0/33"]', 'entry 2, "10.0.0.0/33", is not'],
    ['http.trusted_proxies = "10.0.0.0/8"', 'is a string'],
    ['http.trusted_proxies = [1]', 'entry 1, 1, is not valid'],
    ['http.cors_origins = ["https://a.example/"]', 'entry 1, "https://a.example/", is not valid'],
    ['http.cors_origins = ["https://a.example:443"]', 'entry 1'],
    ['runtime.outbound_http.allowed_ports = []', 'has 0 entries'],
    ['runtime.outbound_http.allowed_ports = [0]', 'entry 1, 0, is not valid'],
    ['metrics.path = "metrics"', '"metrics" is not valid'],
    ['storage.indexes = [{ name = "a", collection = "c", fields = [] }]', 'entry 1 has no usable'],
    ['storage.indexes = [{ name = "a", collection = "c", field = ["x"] }]', 'entry 1 has an unkno'],
  ])('[O-CFG-5] refuses %s', async (file, wrong) => {
    const [problem, ...more] = await workspace.problems({ file })
    expect(problem).toContain(`(guildhall.toml line 1): ${wrong}`)
    expect(problem).toContain('; allowed: ')
    expect(more).toEqual([])
  })

  it('[O-CFG-5] is accepted at both of its bounds', async () => {
    for (const [text, value] of [
      ['1', 1],
      ['1000000', 1_000_000],
    ] as const) {
      const { config } = await workspace.load({ set: [`rooms.max_rooms=${text}`] })
      expect(config.rooms.max_rooms).toBe(value)
    }
    const off = await workspace.load({ file: 'transport.websocket.heartbeat_interval_ms = 0' })
    expect(off.config.transport.websocket.heartbeat_interval_ms).toBe(0)
    const large = await workspace.load({ file: 'database.min_free_bytes = 1099511627776' })
    expect(large.config.database.min_free_bytes).toBe(2 ** 40)
  })

  it('[O-CFG-5] that is a list has at most its number of entries', async () => {
    const list = (length: number) => JSON.stringify(Array(length).fill('10.0.0.0/8'))
    await workspace.load({ file: `http.trusted_proxies = ${list(64)}` })
    const [problem] = await workspace.problems({ file: `http.trusted_proxies = ${list(65)}` })
    expect(problem).toContain('has 65 entries')
  })

  it('[O-CFG-5] reads tables of storage indexes, each name once', async () => {
    const file =
      '[[storage.indexes]]\nname = "by_level"\ncollection = "saves"\nfields = ["level"]\n' +
      '[[storage.indexes]]\nname = "by_key"\ncollection = "saves"\nkey = "slot"\nfields = ["a"]\n'
    const { config } = await workspace.load({ file })
    expect(config.storage.indexes).toEqual([
      { name: 'by_level', collection: 'saves', key: undefined, fields: ['level'] },
      { name: 'by_key', collection: 'saves', key: 'slot', fields: ['a'] },
    ])
    const bound = 'é'.repeat(64)
    const longest = await workspace.load({ file: file.replace('slot', bound) })
    expect(longest.config.storage.indexes[1]?.key).toBe(bound)
    for (const [name, member] of [
      ['slot', 'key'],
      ['saves', 'collection'],
    ] as const) {
      for (const text of [`${bound}k`, 'a\\u0000', 'a\\u0085', '']) {
        const [wrong] = await workspace.problems({ file: file.replace(name, text) })
        expect(wrong).toContain(`has no usable ${member}`)
      }
    }
    const [problem] = await workspace.problems({ file: file.replace('by_key', 'by_level') })
    expect(problem).toContain('entry 2 repeats the name "by_level"')
  })

  it('[O-VAL-7] of a switched-off feature is still checked', async () => {
    const file = 'metrics = { enabled = false, bind = "nowhere" }'
    expect(await workspace.problems({ file })).toHaveLength(1)
  })

  it('[O-CFG-3] is shown short and without control characters', async () => {
    const nasty = `x\u001b[2J\n\u2028${'y'.repeat(5_000)}`
    const [problem] = await workspace.problems({ set: [`server.node_id=${nasty}`] })
    for (const char of ['\u001b', '\n', '\u2028']) expect(problem).not.toContain(char)
    expect(problem?.length).toBeLessThan(300)
  })
})

describe('a relative path', () => {
  it('[O-CFG-6] in the file is relative to the folder of the file', async () => {
    const folder = join(workspace.cwd, 'etc')
    mkdirSync(folder, { recursive: true })
    const configPath = workspace.write(
      'etc/node.toml',
      'runtime.scripts_dir = "game"\ndatabase.url = "sqlite:data.db"\nerrors.directory = "/var"',
    )
    const { config } = await workspace.load({ configPath })
    expect(config.runtime.scripts_dir).toBe(join(folder, 'game'))
    expect(config.database.url).toBe(`sqlite:${join(folder, 'data.db')}`)
    expect(config.errors.directory).toBe('/var')
  })

  it('[O-CFG-6] elsewhere is relative to the working directory', async () => {
    const file = 'database.url = "sqlite:data.db"'
    const env = { GUILDHALL_RUNTIME__SCRIPTS_DIR: 'scripts' }
    const { config } = await workspace.load({ file, env, set: ['errors.directory=journal'] })
    expect(config.runtime.scripts_dir).toBe('scripts')
    expect(config.errors.directory).toBe('journal')
    expect(config.database.url).toBe('sqlite:data.db')
  })
})

describe('what needs something else', () => {
  it('warns of nothing where a feature is switched off, or one that is there is set', async () => {
    const set = ['metrics.auth=none', 'transport.quic.enabled=false', 'logs.audit_ring_capacity=9']
    const { warnings } = await workspace.load({ set: [...set, 'console.username=ops'] })
    expect(warnings).toEqual([])
  })

  it('[R-TR-1] leaves a transport that is on only by default to the node', async () => {
    const { config, sources } = await workspace.load({})
    expect(config.transport.quic.enabled).toBe(true)
    expect(sources.get('transport.quic.enabled')?.layer).toBe('default')
    const off = await workspace.load({ set: ['transport.quic.enabled=false'] })
    expect(off.config.transport.quic.enabled).toBe(false)
  })
})
