import { isKey, type Key, type Section, type ValuesOf } from './key.ts'
import { database } from './sections/database.ts'
import {
  chat,
  lag_diagnostics,
  leaderboards,
  logs,
  notifications,
  purchases,
  storage,
  tournaments,
  wallet,
} from './sections/features.ts'
import { http } from './sections/http.ts'
import { authentication, console, sessions } from './sections/identity.ts'
import {
  errors,
  logging,
  metrics,
  retention,
  scheduler,
  server,
  shutdown,
} from './sections/node.ts'
import { cluster, matchmaker, party, rooms, transport } from './sections/realtime.ts'
import { runtime } from './sections/runtime.ts'

/**
 * Every configuration key: type, default, bounds and purpose. This is their only source; the
 * `Config` type, the checks, the environment names and docs/configuration.md derive from it.
 */
export const schema = {
  server,
  http,
  logging,
  errors,
  metrics,
  database,
  sessions,
  authentication,
  console,
  transport,
  rooms,
  matchmaker,
  party,
  cluster,
  runtime,
  storage,
  chat,
  notifications,
  wallet,
  purchases,
  leaderboards,
  tournaments,
  logs,
  lag_diagnostics,
  scheduler,
  retention,
  shutdown,
} as const satisfies Section

/**
 * The effective configuration, e.g. `config.http.tls.certificate_file`. Keys that are unset and
 * have no default are `undefined`. Read once at start; nothing changes it afterwards.
 */
export type Config = ValuesOf<typeof schema>

/**
 * Every key under its dotted name, e.g. `http.tls.certificate_file`, in the order of the schema.
 */
export const keys: ReadonlyMap<string, Key> = new Map(flatten(schema, ''))

/** The dotted names of all sections, e.g. `http` and `http.tls`. */
export const sections: ReadonlySet<string> = new Set(
  [...keys.keys()].flatMap((name) => parents(name)),
)

function* flatten(section: Section, prefix: string): Generator<[string, Key]> {
  for (const [name, entry] of Object.entries(section)) {
    if (isKey(entry)) yield [prefix + name, entry]
    else yield* flatten(entry, `${prefix}${name}.`)
  }
}

function parents(name: string): string[] {
  const parts = name.split('.').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
}
