import type { AuditAction } from '@guildhall/contract'
import type { Actor } from './audit/actor.ts'
import type { CombinedResult } from './batching/combiner.ts'

/**
 * What a change carries to its service: who makes it, under which action it is audited, and whether
 * its request may come again. The service hands it to the one function that opens the transaction.
 */
export type Mutation = {
  actor: Actor
  /** Absent where the trail keeps nothing: of the system, and of most that scripts do. */
  action?: AuditAction
  /** Present when the request has an Idempotency-Key. */
  idempotent?: IdempotentRequest
}

/** A change that the node makes by itself. */
export const bySystem: Mutation = { actor: { kind: 'system' } }

/** A request that may come again: whose it is, what it asks, and its key. */
export type IdempotentRequest = {
  /** Operator and role. */
  principal: string
  /** Method, path and query as sent; a digest of these two where they are long. */
  target: string
  key: string
  /** SHA-256 of the body's bytes. */
  body_digest: Uint8Array
  /** Secrets are shown once: their answer is not recorded, and a repeat is refused. */
  recordsAnswer: boolean
  /** What a repeat gets, made of what the change answered. */
  recordOf(answer: unknown): RecordedAnswer
}

/** A success as it was sent; `body` is null for 204. */
export type RecordedAnswer = { status: number; body: string | null }

/** Stores idempotent requests; filled by the feature that stores them. */
export type Idempotency = {
  /**
   * Waits while the same request is running on this node, then answers what became of it, or
   * undefined when it is this request's turn; then `leave` must be called at its end.
   *
   * @throws Failure `conflict` when the key was used with another body, when the answer may not be
   * repeated, or when the other request runs for too long
   */
  enter(request: IdempotentRequest): Promise<RecordedAnswer | undefined>
  leave(request: IdempotentRequest): void
}

/** The words of an audit entry. */
export type AuditWords = { target: string; details: string }

/** What a mutation did. */
export type Answered<T> = {
  answer: T
  /** What is shown of it, for a repeat of the request; absent where that is the answer. */
  shown?(): unknown
}

/** What a mutation did, with its audit entry. */
export type Done<T> = Answered<T> & AuditWords

/** The same of one that changed any number of things, each with an entry of its own. */
export type DoneEach<T> = Answered<T> & { audited: readonly AuditWords[] }

/**
 * The one function through which mutations change the store, in a transaction that holds
 * the change, its audit entry and the record of a idempotent request. `Tx` is the database's.
 */
export type Mutate<Tx> = <T>(
  mutation: Mutation,
  change: (tx: Tx) => Promise<Done<T> | DoneEach<T>>,
  options?: MutateOptions,
) => Promise<T>

/**
 * The same for many changes that share one transaction: the form for rows that everybody writes,
 * to be run by a combiner. `change` answers for each item in their order; one that is refused must
 * have left nothing behind, and takes none of the others with it.
 */
export type MutateMany<Tx> = <I extends { mutation: Mutation }, T>(
  items: readonly I[],
  change: (tx: Tx, items: readonly I[]) => Promise<readonly CombinedResult<Done<T>>[]>,
  options?: MutateOptions,
) => Promise<readonly CombinedResult<T>[]>

export type MutateOptions = {
  /**
   * `serializable` (default) suits changes that read and then write. `read committed` suits those
   * that lock the row they decide on: waiting for the lock is then enough, and nothing is retried.
   */
  isolation?: 'serializable' | 'read committed'
}

/** Thrown inside a transaction when another node has just done the same request. */
export class AlreadyDone extends Error {
  override readonly name = 'AlreadyDone'
}
