/**
 * What the watchdog of a worker knows about a slice that ran past its deadline, as the lower 32
 * bits of the ids of calls: the one that computed in its first slice, or 0 when it was one of those
 * that had waited in between, and the last one that had begun.
 */
export type Overdue = { readonly running: number; readonly begun: number }

/**
 * Whether a call that was open when the worker was ended counts as too long. After an await nobody
 * can see from outside which of the waiting calls goes on, so then every call that had begun does.
 */
export function isOverdue(id: number, { running, begun }: Overdue): boolean {
  // Ids grow by one, and the difference of their lower bits says which came first.
  return running === 0 ? ((begun - id) | 0) >= 0 : (id | 0) === running
}
