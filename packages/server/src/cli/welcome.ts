import type { Config } from '../config/schema.ts'

/** What a person who has just started a node wants to know. */
export type Welcome = {
  config: Config
  /** Where the node listens. */
  url: string
  version: string
  /** The script that serves, e.g. `./game/main.ts`; null without one. */
  entrypoint: string | null
}

/**
 * Where players and operators go, how to sign in, where data is kept, and what to try next. With
 * the ready line and the two warnings of a fresh folder these are ten lines.
 */
export function welcomeLines({ config, url, version, entrypoint }: Welcome): string[] {
  const { console: operators, database, runtime } = config
  const hasDefaults = operators.username === 'admin' && operators.password === 'password'
  const signIn = hasDefaults ? 'admin / password, on this machine only' : operators.username
  const game = entrypoint ?? `none yet: put a main.ts into ${runtime.scripts_dir}`
  const isWatched = entrypoint !== null && runtime.hot_reload
  const tryNext =
    entrypoint === null
      ? 'guildhall init writes a first game; the first five minutes of README.md have others'
      : 'guildhall test runs its tests, guildhall --help says what else there is'
  return [
    '',
    `  Guildhall ${version} serves. Ctrl-C stops it. With --log it prints its log.`,
    `  Players     ${url}`,
    `  Dashboard   ${url}/dashboard   (${signIn})`,
    `  Data        ${dataLine(database.url)}`,
    `  Game        ${game}${isWatched ? ', loaded again whenever it is saved' : ''}`,
    `  Try next    ${tryNext}`,
  ]
}

/** A server's address is a secret; the path of a file is none. */
function dataLine(url: string | undefined): string {
  if (url === undefined || url === 'memory:') {
    return 'in memory, gone at the end; to keep it: GUILDHALL_DATABASE__URL=sqlite:guildhall.db'
  }
  const [, file] = /^sqlite:(.+)$/.exec(url) ?? []
  return file === undefined ? 'kept in the configured PostgreSQL' : `kept in ${file}`
}

/** What stopping says, as it may take some seconds. */
export const farewellLine = '  Guildhall stops. Ctrl-C again ends it at once.'
