import type { ApiKeyPrincipal, HumanPrincipal } from '../auth/principal.ts'

/** Who does something: an operator, a machine with a key, the game's script, or the node itself. */
export type Actor = HumanPrincipal | ApiKeyPrincipal | ScriptActor | { kind: 'system' }

/** The game's script, by the revision that ran. */
export type ScriptActor = { kind: 'script'; revision_id: string }

/** What an actor is called in what is kept of its doings. */
export function nameOf(actor: Actor): string {
  if (actor.kind === 'human') return actor.username
  return actor.kind === 'api_key' ? actor.credential_id : actor.kind
}
