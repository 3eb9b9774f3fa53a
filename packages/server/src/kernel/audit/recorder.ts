import { type AuditAction, hasControlCharacter, type Route, type Scope } from '@guildhall/contract'
import type { ApiKeyPrincipal } from '../auth/principal.ts'
import { Ring } from '../batching/ring.ts'
import type { Clock } from '../clock.ts'
import type { Ids } from '../ids.ts'
import { cutText } from '../log/cut-text.ts'
import { type Actor, nameOf } from './actor.ts'

/** Who did it, as the trail keeps it. */
export type AuditActor = {
  actor_type: 'human' | 'api_key' | 'script'
  actor: string
  role: 'admin' | 'viewer' | 'api_key' | '-'
  credential_id?: string
  key_name?: string
  scopes?: readonly Scope[]
}

/** Whom the trail can report: what the node does by itself is not audited. */
export type AuditedActor = Exclude<Actor, { kind: 'system' }>

export type AuditEvent = AuditActor & {
  action: AuditAction
  target: string
  details: string
  match_id?: string
}

/** An event with its id, which is its cursor too, and its time. */
export type RecordedEvent = AuditEvent & { id: string; time_unix_ms: number }

export type AuditRecorder = {
  /**
   * Records an event that no transaction carries: logins and reads. It stands in the ring at once
   * and in the durable trail a moment later, or, if `ringOnly`, in the process log instead.
   */
  record(event: AuditEvent, options?: { ringOnly: boolean }): void
  /** Gives an event its id and time, for a transaction that writes it beside the change. */
  prepare(event: AuditEvent): RecordedEvent
  /** Puts an event into the ring once the transaction that wrote it has committed. */
  committed(event: RecordedEvent): void
  /** The newest events of this node that `matches`, newest first. */
  newest(limit: number, matches: (event: RecordedEvent) => boolean): RecordedEvent[]
  retained(): number
  readonly capacity: number
}

type RecorderDeps = {
  clock: Clock
  ids: Ids
  ringCapacity: number
  /** The write-behind queue of the durable trail; absent on a backend that keeps none. */
  enqueue?: (event: RecordedEvent) => void
  /** Logs what the durable trail does not keep; absent where there is none. */
  logRingOnly?: (event: RecordedEvent) => void
}

export function createAuditRecorder({
  clock,
  ids,
  ringCapacity,
  enqueue,
  logRingOnly,
}: RecorderDeps): AuditRecorder {
  const ring = new Ring<RecordedEvent>(ringCapacity)
  const prepare = (event: AuditEvent): RecordedEvent => ({
    ...event,
    id: ids.durable('au1-'),
    time_unix_ms: clock.nowUnixMs(),
    actor: clean(event.actor, actorBytesMax),
    target: clean(event.target, targetBytesMax),
    details: clean(event.details, detailsBytesMax),
  })
  return {
    record(event, options) {
      const recorded = prepare(event)
      ring.push(recorded)
      if (options?.ringOnly === true) logRingOnly?.(recorded)
      else enqueue?.(recorded)
    },
    prepare,
    committed: (event) => void ring.push(event),
    newest: (limit, matches) => ring.newestFirst().filter(matches).take(limit).toArray(),
    retained: () => ring.size,
    capacity: ringCapacity,
  }
}

/** The actor as it stands in a row. */
export function actorOf(actor: AuditedActor): AuditActor {
  const name = nameOf(actor)
  if (actor.kind === 'human') return { actor_type: 'human', actor: name, role: actor.role }
  if (actor.kind === 'script') return { actor_type: 'script', actor: name, role: '-' }
  const { credential_id, key_name, scopes } = actor
  const key = { credential_id, key_name, scopes }
  return { actor_type: 'api_key', actor: name, role: 'api_key', ...key }
}

/**
 * The event of an API key that passed the checks of a route, under the method of its request, which
 * may be HEAD. Queries and ids are not recorded.
 */
export function keyReadEvent(key: ApiKeyPrincipal, { path }: Route, method: string): AuditEvent {
  const details = `method=${method} path=${path}`
  return { ...actorOf(key), action: 'console.read', target: path, details }
}

const actorBytesMax = 1024
const targetBytesMax = 1024
const detailsBytesMax = 512

/** Control characters become `?`, and longer text is cut at a character's boundary. */
export function clean(text: string, bytesMax: number): string {
  // Looking is quicker than replacing, and there is hardly ever one.
  const printable = hasControlCharacter(text) ? text.replace(/\p{Cc}/gu, '?') : text
  return cutText(printable, bytesMax)
}
