import { tmpdir } from 'node:os'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { environmentName } from '../config/sources/environment.ts'

/**
 * The configuration that a test runs with: the defaults and these keys.
 *
 * @example await testConfig({ 'authentication.limits.source.limit': '3' })
 */
export async function testConfig(keys: Readonly<Record<string, string>> = {}): Promise<Config> {
  const env = Object.fromEntries(
    Object.entries(keys).map(([key, value]) => [environmentName(key), value]),
  )
  const loaded = await loadConfig({ env, cwd: tmpdir() })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
