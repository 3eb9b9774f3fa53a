import type { AuditAction } from '@guildhall/contract'
import type { HumanPrincipal } from '../auth/principal.ts'
import type { CombinedResult } from '../batching/combiner.ts'

/**
 * What a console mutation carries to its service: who does it, under which action it is audited,
 * and how its answer may be given again when the same request is repeated. The service hands it to
 * the one function that opens the transaction.
 */
export type Mutation = {
  principal: HumanPrincipal
  action: AuditAction
  /** Present when the request has an Idempotency-Key. */
  repeatable: RepeatableRequest | undefined
  /** The answer as it will be sent, so that it can be recorded beside the change. */
  render(answer: unknown): RecordedAnswer
}

/** A request that may come again: whose it is, what it asks, and its key. */
export type RepeatableRequest = {
  /** Operator and role. */
  principal: string
  /** Method, path and query as sent; a digest of these two where they are long. */
  target: string
  key: string
  /** SHA-256 of the body's bytes. */
  body_digest: Uint8Array
  /** Secrets are shown once: their answer is not recorded, and a repeat is refused. */
  recordsAnswer: boolean
}

/** A success as it was sent; `body` is null for 204. */
export type RecordedAnswer = { status: number; body: string | null }

/** Remembers repeatable requests; filled by the feature that stores them. */
export type Idempotency = {
  /**
   * Waits while the same request is running on this node, then answers what became of it, or
   * undefined when it is this request's turn; then `leave` must be called at its end.
   *
   * @throws Failure `conflict` when the key was used with another body, when the answer may not be
   * repeated, or when the other request runs for too long
   */
  enter(request: RepeatableRequest): Promise<RecordedAnswer | undefined>
  leave(request: RepeatableRequest): void
}

/** What a mutation did: its answer, and the words of its audit entry. */
export type Done<T> = { answer: T; target: string; details: string }

/**
 * The one function through which console mutations change the store, in a transaction that holds
 * the change, its audit entry and the record of a repeatable request. `Tx` is the database's.
 */
export type Mutate<Tx> = <T>(
  mutation: Mutation,
  change: (tx: Tx) => Promise<Done<T>>,
  options?: MutateOptions,
) => Promise<T>

/**
 * The same for many changes that share one transaction: the form for rows that everybody writes,
 * to be run by a combiner. `change` answers for each item in their order; one that is refused must
 * have left nothing behind, and takes none of the others with it. A change without a `mutation` is
 * not an operator's: it is neither audited nor recorded.
 */
export type MutateMany<Tx> = <I extends { mutation: Mutation | undefined }, T>(
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
