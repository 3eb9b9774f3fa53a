import { accessSync, constants } from 'node:fs'
import { basename } from 'node:path'
import { type Fault, quoted } from './problem.ts'
import { processRules } from './process-rules.ts'
import { type Rule, rule, unless } from './rule.ts'
import type { Config } from './schema.ts'
import { collide, isLoopback, parseAddress } from './values/address.ts'

export const rules: readonly Rule[] = [
  rule(['http.bind', 'http.behind_tls_proxy', 'http.tls.certificate_file'], ({ http }) => {
    if (isLocal(http.bind) || http.behind_tls_proxy || http.tls.certificate_file) return undefined
    return {
      wrong: `${http.bind} is reachable from other machines, without TLS`,
      allowed:
        'http.tls.certificate_file and http.tls.private_key_file, or ' +
        'http.behind_tls_proxy = true behind a proxy that ends TLS, or a loopback address',
    }
  }),
  rule(['console.password', 'console.username', 'http.bind'], ({ console, http }) => {
    if (isLocal(http.bind) || !hasDefaultCredentials(console)) return undefined
    return {
      wrong: `is the default, while http.bind ${http.bind} is reachable from other machines`,
      allowed: 'credentials of your own in console.username and console.password',
    }
  }),
  rule(
    ['console.viewer_password', 'console.password', 'console.viewer_username', 'console.username'],
    ({ console }) => {
      const sameName = (console.viewer_username ?? console.username) === console.username
      if (!sameName || console.viewer_password !== console.password) return undefined
      return {
        wrong: 'equals console.password under the same username',
        allowed: 'another password, or a username of its own in console.viewer_username',
      }
    },
  ),
  rule(
    ['console.operators', 'console.username', 'console.viewer_username'],
    ({ console: { operators, username, viewer_username } }) => {
      const taken = operators.find((one) => [username, viewer_username].includes(one.username))
      if (taken === undefined) return undefined
      return {
        wrong: `has ${quoted(taken.username)}, the name of one of the two other operators`,
        allowed: 'names unlike console.username and console.viewer_username',
      }
    },
  ),
  rule(['http.tls.certificate_file', 'http.tls.private_key_file'], ({ http: { tls } }) =>
    needs(tls.certificate_file, tls.private_key_file, 'http.tls.private_key_file'),
  ),
  rule(['http.tls.private_key_file', 'http.tls.certificate_file'], ({ http: { tls } }) =>
    needs(tls.private_key_file, tls.certificate_file, 'http.tls.certificate_file'),
  ),
  rule(
    ['transport.tls.certificate_file', 'transport.tls.private_key_file'],
    ({ transport: { tls } }) =>
      needs(tls.certificate_file, tls.private_key_file, 'transport.tls.private_key_file'),
  ),
  rule(
    ['transport.tls.private_key_file', 'transport.tls.certificate_file'],
    ({ transport: { tls } }) =>
      needs(tls.private_key_file, tls.certificate_file, 'transport.tls.certificate_file'),
  ),
  rule(['http.cors_origins'], ({ http: { cors_origins: origins } }) => {
    if (!origins.includes('*') || origins.length === 1) return undefined
    return { wrong: 'has * beside other entries', allowed: 'exact origins, or * alone' }
  }),
  rule(
    [
      'transport.quic.bind',
      'transport.quic.enabled',
      'transport.tls.certificate_file',
      'http.tls.certificate_file',
    ],
    ({ transport, http }) => {
      const certificate = transport.tls.certificate_file ?? http.tls.certificate_file
      if (!transport.quic.enabled || isLocal(transport.quic.bind) || certificate) return undefined
      return {
        wrong: `${transport.quic.bind} is reachable from other machines, without a certificate`,
        allowed: 'a certificate in transport.tls or http.tls, or a loopback address',
      }
    },
  ),
  rule(
    ['transport.webtransport.enabled', 'transport.quic.enabled'],
    ({ transport: { webtransport, quic } }, isSet) => {
      const wanted = webtransport.enabled && isSet('transport.webtransport.enabled')
      if (!wanted || quic.enabled) return undefined
      return { wrong: 'is true without QUIC', allowed: 'transport.quic.enabled = true, or false' }
    },
  ),
  rule(['transport.quic.keep_alive_ms', 'transport.quic.idle_timeout_ms'], ({ transport }) =>
    unless(transport.quic.keep_alive_ms < transport.quic.idle_timeout_ms, {
      wrong: `${transport.quic.keep_alive_ms} is too long`,
      allowed: `less than transport.quic.idle_timeout_ms (${transport.quic.idle_timeout_ms})`,
    }),
  ),
  rule(
    [
      'transport.limits.inbound_bytes_burst',
      'transport.limits.inbound_bytes_per_sec',
      'transport.limits.max_envelope_bytes',
    ],
    ({ transport: { limits } }) => {
      if (limits.inbound_bytes_per_sec === 0) return undefined
      return holdsEnvelope(limits.inbound_bytes_burst, limits.max_envelope_bytes)
    },
  ),
  rule(
    ['transport.limits.reliable_queue_bytes', 'transport.limits.max_envelope_bytes'],
    ({ transport: { limits } }) =>
      holdsEnvelope(limits.reliable_queue_bytes, limits.max_envelope_bytes),
  ),
  rule(['metrics.bind', 'metrics.enabled', 'http.bind'], ({ metrics, http }) =>
    unless(!metrics.enabled || !sameAddress(metrics.bind, http.bind), {
      wrong: `${metrics.bind} is the address of http.bind`,
      allowed: 'an address of its own',
    }),
  ),
  rule(
    [
      'metrics.bind',
      'metrics.enabled',
      'metrics.auth',
      'http.behind_tls_proxy',
      'http.tls.certificate_file',
    ],
    ({ metrics, http }) => {
      if (!metrics.enabled || isLocal(metrics.bind)) return undefined
      const isSafe = http.tls.certificate_file !== undefined || http.behind_tls_proxy
      return unless(metrics.auth === 'api_key' && isSafe, {
        wrong: `${metrics.bind} is reachable from other machines`,
        allowed:
          'metrics.auth = "api_key" with http.tls or http.behind_tls_proxy = true, or loopback',
      })
    },
  ),
  rule(['matchmaker.default_ttl_ms', 'matchmaker.max_ttl_ms'], ({ matchmaker }) =>
    atMost(matchmaker.default_ttl_ms, 'matchmaker.max_ttl_ms', matchmaker.max_ttl_ms),
  ),
  rule(['runtime.restart_backoff_ms', 'runtime.restart_backoff_max_ms'], ({ runtime }) =>
    atMost(
      runtime.restart_backoff_ms,
      'runtime.restart_backoff_max_ms',
      runtime.restart_backoff_max_ms,
    ),
  ),
  rule(['runtime.inspect', 'runtime.tier', 'runtime.language'], ({ runtime }) => {
    const { inspect, tier, language = 'typescript' } = runtime
    if (inspect === undefined) return undefined
    if (!isLocal(inspect)) {
      return { wrong: `${inspect} is reachable from other machines`, allowed: 'a loopback address' }
    }
    return unless(tier === 'trusted' && /^(ts|typescript|js|javascript)$/.test(language), {
      wrong: 'is set for a script that no debugger can attach to',
      allowed: 'TypeScript or JavaScript in the trusted tier',
    })
  }),
  rule(['runtime.shared_dirs', 'runtime.scripts_dir'], ({ runtime }) =>
    unless(!runtime.shared_dirs.includes(basename(runtime.scripts_dir)), {
      wrong: 'has the folder of the script itself',
      allowed: 'other folders beside it',
    }),
  ),
  rule(['runtime.require_script', 'runtime.enabled'], ({ runtime }) =>
    unless(!runtime.require_script || runtime.enabled, {
      wrong: 'is true while the runtime is off',
      allowed: 'runtime.enabled = true, or false',
    }),
  ),
  rule(['sessions.refresh_ttl_sec', 'sessions.access_ttl_sec'], ({ sessions }) =>
    unless(sessions.refresh_ttl_sec > sessions.access_ttl_sec, {
      wrong: `${sessions.refresh_ttl_sec} is too short`,
      allowed: `more than sessions.access_ttl_sec (${sessions.access_ttl_sec})`,
    }),
  ),
  keptAsLong('match_logs_retention_days'),
  keptAsLong('telemetry_retention_days'),
  rule(['scheduler.lease_ttl_ms', 'scheduler.interval_ms'], ({ scheduler }) =>
    unless(scheduler.lease_ttl_ms >= 3 * scheduler.interval_ms, {
      wrong: `${scheduler.lease_ttl_ms} is too short`,
      allowed: `at least 3 times scheduler.interval_ms (${scheduler.interval_ms})`,
    }),
  ),
  ...processRules,
  rule(['cluster.enabled', 'database.url'], ({ cluster, database }) =>
    unless(!cluster.enabled || /^postgres/.test(database.url ?? ''), {
      wrong: 'is true without PostgreSQL',
      allowed: 'a database.url that starts with postgres://, or false',
    }),
  ),
  rule(['cluster.enabled', 'cluster.bus', 'cluster.nats_url'], ({ cluster }) =>
    unless(!cluster.enabled || cluster.bus !== 'nats' || cluster.nats_url !== undefined, {
      wrong: 'is true without a bus',
      allowed: 'the address of NATS in cluster.nats_url, or cluster.bus = "postgres"',
    }),
  ),
  rule(
    ['cluster.nats_url', 'cluster.enabled', 'cluster.bus', 'cluster.allow_plaintext'],
    ({ cluster }) => {
      const isUsed = cluster.enabled && cluster.bus === 'nats' && !cluster.allow_plaintext
      const urls = isUsed ? (cluster.nats_url ?? '').split(',') : []
      return unless(urls.every(isLocalOrEncrypted), {
        wrong: 'leads to another machine without TLS',
        allowed: 'tls:// addresses, loopback, or cluster.allow_plaintext = true',
      })
    },
  ),
  rule(
    ['lag_diagnostics.enabled', 'database.url', 'cluster.enabled'],
    ({ lag_diagnostics: lag, database, cluster }) => {
      const isDurable = database.url !== undefined && database.url !== 'memory:'
      return unless(!lag.enabled || (isDurable && !cluster.enabled), {
        wrong: 'is true without a durable backend of one node',
        allowed: 'a sqlite: or postgres:// database.url and cluster.enabled = false, or false',
      })
    },
  ),
  rule(['lag_diagnostics.raw_root', 'lag_diagnostics.enabled'], ({ lag_diagnostics: lag }) =>
    unless(!lag.enabled || isWritable(lag.raw_root), {
      wrong: 'is no folder that can be written to',
      allowed: 'an absolute path of a folder, or lag_diagnostics.enabled = false',
    }),
  ),
]

/** Console credentials that everybody knows. */
export function hasDefaultCredentials({ username, password }: Config['console']): boolean {
  return username === 'admin' && password === 'password'
}

/** Whether a bind can be reached from this machine only. */
export function isLocal(bind: string): boolean {
  const address = parseAddress(bind)
  return address !== undefined && isLoopback(address.host)
}

/** Whether nobody on the way can read along. */
function isLocalOrEncrypted(url: string): boolean {
  const text = url.trim()
  if (text === '' || text.startsWith('tls://')) return true
  return URL.canParse(text) && isLoopback(new URL(text).hostname.replace(/^\[|\]$/g, ''))
}

/** The two files of a certificate are set together or not at all. */
function needs(
  value: string | undefined,
  other: string | undefined,
  otherKey: string,
): Fault | undefined {
  return unless(value === undefined || other !== undefined, {
    wrong: `is set without ${otherKey}`,
    allowed: 'both or neither',
  })
}

function keptAsLong(other: 'match_logs_retention_days' | 'telemetry_retention_days'): Rule {
  return rule(['logs.matches_retention_days', `logs.${other}`], ({ logs }) =>
    unless(logs.matches_retention_days >= logs[other], {
      wrong: `${logs.matches_retention_days} is too short`,
      allowed: `at least logs.${other} (${logs[other]})`,
    }),
  )
}

function atMost(value: number, otherKey: string, other: number): Fault | undefined {
  return unless(value <= other, {
    wrong: `${value} is too long`,
    allowed: `at most ${otherKey} (${other})`,
  })
}

function holdsEnvelope(bytes: number, envelopeBytes: number): Fault | undefined {
  return unless(bytes >= envelopeBytes, {
    wrong: `${bytes} is too small`,
    allowed: `at least transport.limits.max_envelope_bytes (${envelopeBytes})`,
  })
}

function sameAddress(a: string, b: string): boolean {
  const [one, other] = [parseAddress(a), parseAddress(b)]
  return one !== undefined && other !== undefined && collide(one, other)
}

function isWritable(folder: string | undefined): boolean {
  if (folder === undefined) return false
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
