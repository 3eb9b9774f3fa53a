import type { BindingHost } from './binding-host.ts'
import { createEncodingBindings } from './encoding.ts'
import { createHookBindings } from './hooks.ts'
import { createMessagingBindings } from './messaging.ts'
import { createSessionBindings } from './sessions.ts'
import { createTimerBindings } from './timers.ts'
import { createTournamentBindings } from './tournaments.ts'
import { createTracingBindings } from './tracing.ts'
import { refuseUnavailable } from './unavailable.ts'

/** What the script reads about itself and its node. The revision is known once it has loaded. */
export type Identity = {
  node_id: string
  tier: 'trusted' | 'sandboxed'
  generation: number
  revision_id: () => string
}

/** Builds the object that scripts know as `guildhall`. It cannot be changed. */
export function createGuildhall(host: BindingHost, identity: Identity): object {
  const functions = {
    ...createHookBindings(host),
    ...createMessagingBindings(host),
    ...createSessionBindings(host),
    ...createTimerBindings(host),
    ...createEncodingBindings(),
    ...createTracingBindings(host),
  }
  for (const fn of Object.values(functions)) Object.freeze(fn)
  const api = {
    ...functions,
    tournaments: Object.freeze(createTournamentBindings(host)),
    node_id: identity.node_id,
    tier: identity.tier,
    generation: identity.generation,
    get revision_id() {
      return identity.revision_id()
    },
  }
  refuseUnavailable(api)
  return Object.freeze(api)
}
