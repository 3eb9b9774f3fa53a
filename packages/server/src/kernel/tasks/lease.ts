/** Runs `body` as one transaction of a store; `Tx` is the database's. */
export type Transact<Tx> = <T>(
  body: (tx: Tx) => Promise<T>,
  options?: {
    isolation?: 'serializable' | 'read committed'
    long?: boolean
  },
) => Promise<T>

/**
 * The right to do a job that only one node of a deployment does. Who holds it may still find out
 * late that it was lost, so what the job commits goes through `transaction`.
 */
export type Lease<Tx> = {
  readonly name: string
  /** Whether this node may work: it holds the lease and could renew it lately. */
  held(): boolean
  /** Takes the lease when it is free, renews it when that is due; answers `held()`. */
  keep(): Promise<boolean>
  /**
   * Runs `body` as a transaction that is kept only while the lease is this node's own.
   *
   * @throws LeaseLost when it is not; nothing was committed then
   */
  transaction: Transact<Tx>
  /** Lets the next node have it at once. */
  release(): Promise<void>
}

/** Thrown when a job goes on without its lease. It ends the pass and is no failure of the job. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
