import { type LoadedConfig, loadConfig } from '../config/load.ts'
import { environmentName } from '../config/sources/environment.ts'
import type { FlagAssignment } from '../config/sources/flags.ts'
import type { TestContext } from './test-context.ts'

/** The operator of every game under test. */
export const operator = { username: 'admin', password: 'password' }

/** Limits that a test reaches only if it sets them itself, and hashes that cost next to nothing. */
export const roomyLimits: Readonly<Record<string, string>> = {
  'authentication.limits.source.limit': '1000000',
  'authentication.limits.email.limit': '1000000',
  'authentication.limits.registration_source.limit': '1000000',
  'authentication.limits.console_login.limit': '1000000',
  'authentication.limits.console_login_source.limit': '1000000',
  'authentication.hashing.memory_kib': '8192',
  'authentication.hashing.iterations': '1',
  'transport.limits.inbound_envelopes_per_sec': '0',
  'transport.limits.inbound_bytes_per_sec': '0',
}

/**
 * The configuration of a game under test: the one that the command was given, with `settings` of
 * the test above it, on a database in memory and a free port.
 *
 * @throws with every problem of the configuration
 */
export async function testedConfig(
  { cwd, configPath, flags, gameDir }: TestContext,
  environment: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string>>,
): Promise<LoadedConfig> {
  const secrets = { 'database.url': 'memory:', 'console.password': operator.password }
  const env = { ...environment, ...environmentOf(secrets) }
  const forced = {
    'runtime.scripts_dir': gameDir,
    'http.bind': '127.0.0.1:0',
    'console.username': operator.username,
    'metrics.enabled': 'false',
    'transport.quic.enabled': 'false',
  }
  const all = [...flagsOf(roomyLimits), ...flags, ...flagsOf(settings), ...flagsOf(forced)]
  const loaded = await loadConfig({ env, cwd, configPath, flags: all })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const { config } = loaded
  // One address is for one process, and each file of tests has its own.
  const runtime = { ...config.runtime, inspect: undefined }
  return { ...loaded, config: { ...config, runtime } }
}

function flagsOf(keys: Readonly<Record<string, string>>): FlagAssignment[] {
  return Object.entries(keys).map(([key, text]) => ({ flag: '--set', key, text }))
}

function environmentOf(keys: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [environmentName(key), value]),
  )
}
