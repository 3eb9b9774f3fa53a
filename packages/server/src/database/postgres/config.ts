/** The `database` section of the configuration, under its own names. */
export type DatabaseConfig = {
  /** PostgreSQL: connections of this node, all purposes together. */
  max_connections: number
  connect_timeout_ms: number
  /** PostgreSQL: how long a transaction waits for a free connection. */
  acquire_timeout_ms: number
  /** PostgreSQL: not for migrations. */
  statement_timeout_ms: number
  /** PostgreSQL: how long a start waits for a server that cannot be reached. */
  startup_wait_ms: number
  transaction_attempts: number
}

export const databaseDefaults: DatabaseConfig = {
  max_connections: 10,
  connect_timeout_ms: 5000,
  acquire_timeout_ms: 5000,
  statement_timeout_ms: 10_000,
  startup_wait_ms: 30_000,
  transaction_attempts: 8,
}
