import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkspace } from './load.fixture.ts'
import { rules } from './rules.ts'
import { type Config, keys } from './schema.ts'

const workspace = createWorkspace()
afterAll(() => workspace.remove())
const own = 'console.username = "root"\nconsole.password = "a password of its own"\n'
const tls = 'http.tls = { certificate_file = "c.pem", private_key_file = "k.pem" }\n'
const proxied = 'http.behind_tls_proxy = true\nhttp.trusted_proxies = ["10.0.0.0/8"]\n'

describe('[O-VAL-2] a bind beyond loopback', () => {
  const open = 'http.bind = "0.0.0.0:7350"\n'
  it.each([
    ['with TLS and own credentials', open + own + tls],
    ['behind a proxy with own credentials', open + own + proxied],
    ['with an own password only', `${open}${tls}console.password = "a password"`],
    ['with an own username only', `${open}${tls}console.username = "root"`],
  ])('is accepted %s', async (_case, file) => {
    expect(await workspace.problems({ file })).toEqual([])
  })

  it('is refused without TLS, naming both ways out', async () => {
    const [problem, ...more] = await workspace.problems({ file: open + own })
    expect(problem).toContain('http.bind (guildhall.toml line 1): ')
    expect(problem).toContain('http.tls.certificate_file')
    expect(problem).toContain('http.behind_tls_proxy = true')
    expect(more).toEqual([])
  })

  it('is refused with the default credentials', async () => {
    const [problem, ...more] = await workspace.problems({ file: open + proxied })
    expect(problem).toContain('console.password (default): is the default')
    expect(more).toEqual([])
  })
})

describe('what works and is warned of', () => {
  it('[O-VAL-3] are default credentials on loopback', async () => {
    expect((await workspace.load({})).warnings.join()).toContain('console.password')
    expect((await workspace.load({ file: own })).warnings).toEqual([])
  })

  it('is a proxy that is not trusted', async () => {
    const file = `${own}http.behind_tls_proxy = true`
    expect((await workspace.load({ file })).warnings.join()).toContain('http.trusted_proxies')
    expect((await workspace.load({ file: own + proxied })).warnings).toEqual([])
  })
})

describe('a rule across keys', () => {
  it.each([
    [
      'S-SEL-8',
      'runtime = { scripts_dir = "game", shared_dirs = ["game"] }',
      'has the folder of the script',
    ],
    ['S-DBG-1', 'runtime.inspect = "0.0.0.0:9229"', 'is reachable from other machines'],
    ['S-DBG-1', 'runtime = { inspect = "127.0.0.1:1", tier = "sandboxed" }', 'no debugger'],
    ['S-DBG-1', 'runtime = { inspect = "127.0.0.1:1", language = "lua" }', 'no debugger'],
    ['O-VAL-4', 'http.tls.certificate_file = "c.pem"', 'is set without http.tls.private_key_file'],
    ['O-VAL-4', 'http.tls.private_key_file = "k.pem"', 'is set without http.tls.certificate_file'],
    [
      'O-VAL-4',
      'transport.tls.certificate_file = "c"',
      'is set without transport.tls.private_key_file',
    ],
    ['R-TLS-3', 'transport.quic.bind = "0.0.0.0:7351"', 'without a certificate'],
    ['H-GEN-34', 'http.cors_origins = ["*", "https://a.example"]', 'has * beside other entries'],
    ['O-VAL-6', 'sessions = { access_ttl_sec = 300, refresh_ttl_sec = 300 }', '300 is too short'],
    ['O-VAL-6', 'logs.matches_retention_days = 29', 'at least logs.match_logs_retention_days (30)'],
    ['O-VAL-6', 'logs.telemetry_retention_days = 91', '90 is too short'],
    ['O-VAL-6', 'runtime = { require_script = true, enabled = false }', 'the runtime is off'],
    ['O-VAL-6', 'scheduler.interval_ms = 5001', '15000 is too short'],
    ['O-KEY-1', 'matchmaker.max_ttl_ms = 59999', '60000 is too long'],
    ['O-KEY-1', 'transport.quic.keep_alive_ms = 30000', '30000 is too long'],
    ['O-KEY-1', 'transport.limits.inbound_bytes_burst = 65535', '65535 is too small'],
    ['O-KEY-1', 'transport.limits.max_envelope_bytes = 4194305', '4194304 is too small'],
    ['O-KEY-1', 'runtime.restart_backoff_ms = 30001', '30001 is too long'],
    ['O-KEY-1', 'console.viewer_password = "password"', 'equals console.password'],
  ])('[%s] refuses %s', async (_rule, file, wrong) => {
    const problems = await workspace.problems({ file })
    expect(problems.filter((line) => line.includes(wrong))).toHaveLength(1)
  })

  it.each([
    ['O-VAL-4', tls],
    ['R-TLS-1', `${tls}transport.quic.bind = "0.0.0.0:7351"`],
    ['O-VAL-7', 'transport.quic = { enabled = false, bind = "0.0.0.0:7351" }'],
    ['H-GEN-34', 'http.cors_origins = ["*"]'],
    ['H-GEN-34', 'http.cors_origins = ["https://a.example", "http://localhost:5173"]'],
    ['O-VAL-6', 'sessions = { access_ttl_sec = 300, refresh_ttl_sec = 301 }'],
    ['O-VAL-6', 'logs.matches_retention_days = 30'],
    ['O-VAL-6', 'runtime.require_script = true'],
    ['O-VAL-6', 'scheduler.interval_ms = 5000'],
    ['O-KEY-1', 'matchmaker.max_ttl_ms = 60000'],
    ['O-KEY-1', 'transport.limits.inbound_bytes_burst = 65536'],
    ['O-KEY-1', 'transport.limits = { inbound_bytes_per_sec = 0, inbound_bytes_burst = 0 }'],
    ['O-KEY-1', 'runtime.restart_backoff_ms = 30000'],
    ['O-KEY-1', 'console = { viewer_password = "password", viewer_username = "guest" }'],
  ])('[%s] accepts %s', async (_rule, file) => {
    expect(await workspace.problems({ file })).toEqual([])
  })

  it('[O-CFG-3] is silent while one of its keys has a problem of its own', async () => {
    const file = 'logs = { telemetry_retention_days = 91, matches_retention_days = 0 }'
    expect(await workspace.problems({ file })).toHaveLength(1)
  })

  it('names only keys that exist', () => {
    for (const name of rules.flatMap((rule) => rule.keys)) expect(keys.has(name)).toBe(true)
  })
})

/** Rules about features that the loader does not let anyone switch on yet. */
describe('a rule of a feature to come', () => {
  let config: Config
  beforeAll(async () => {
    config = (await workspace.load({})).config
  })

  function faults(changed: Config, explicit: readonly string[] = []): string[] {
    return rules.flatMap((rule) => {
      const fault = rule.fault(changed, (key) => explicit.includes(key))
      return fault ? [`${rule.keys[0]} ${fault.wrong}`] : []
    })
  }

  it('[O-VAL-6] wants PostgreSQL and a bus for a cluster', () => {
    const cluster = { ...config.cluster, enabled: true, bus: 'nats' as const }
    expect(faults({ ...config, cluster })).toEqual([
      'cluster.enabled is true without PostgreSQL',
      'cluster.enabled is true without a bus',
    ])
    const database = { ...config.database, url: 'postgresql://db/game' }
    const complete = { ...cluster, nats_url: 'tls://bus:4222' }
    expect(faults({ ...config, cluster: complete, database })).toEqual([])
  })

  it('[L-GEN-3] wants a durable backend of one node and a writable folder for lag diagnostics', () => {
    const lag = { ...config.lag_diagnostics, enabled: true }
    expect(faults({ ...config, lag_diagnostics: lag })).toEqual([
      'lag_diagnostics.enabled is true without a durable backend of one node',
      'lag_diagnostics.raw_root is no folder that can be written to',
    ])
    const database = { ...config.database, url: 'sqlite:game.db' }
    const complete = { ...lag, raw_root: workspace.cwd }
    expect(faults({ ...config, lag_diagnostics: complete, database })).toEqual([])
  })

  it('[H-MET-2] wants keys and TLS for metrics beyond loopback, and an address of their own', () => {
    const metrics = { ...config.metrics, enabled: true, bind: '0.0.0.0:9464' }
    const open = 'metrics.bind 0.0.0.0:9464 is reachable from other machines'
    expect(faults({ ...config, metrics })).toEqual([open])
    const http = { ...config.http, behind_tls_proxy: true }
    expect(faults({ ...config, metrics, http })).toEqual([])
    expect(faults({ ...config, http, metrics: { ...metrics, auth: 'none' } })).toEqual([open])
    const shared = { ...metrics, bind: config.http.bind }
    expect(faults({ ...config, metrics: shared })).toEqual([
      'metrics.bind 127.0.0.1:7350 is the address of http.bind',
    ])
  })

  it('[R-TR-1] wants QUIC for a WebTransport that was asked for', () => {
    const transport = {
      ...config.transport,
      quic: { ...config.transport.quic, enabled: false },
    }
    expect(faults({ ...config, transport })).toEqual([])
    expect(faults({ ...config, transport }, ['transport.webtransport.enabled'])).toEqual([
      'transport.webtransport.enabled is true without QUIC',
    ])
  })
})
