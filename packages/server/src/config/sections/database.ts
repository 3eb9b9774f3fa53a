import { boolean, integer, secretUrlUnset } from '../key.ts'
import { databaseUrl } from '../values/formats.ts'

export const database = {
  url: secretUrlUnset(
    databaseUrl,
    'Where data is kept; unset is `memory:`, which a restart clears. The folder of an embedded ' +
      'file must exist.',
  ),
  max_connections: integer(10, [1, 1_000], 'Connections of the pool; PostgreSQL only.'),
  connect_timeout_ms: integer(5_000, [100, 60_000], 'Time to open a connection.'),
  acquire_timeout_ms: integer(5_000, [50, 60_000], 'Time to wait for a free connection.'),
  statement_timeout_ms: integer(
    10_000,
    [100, 600_000],
    'Time for one statement; migrations and retention are exempt.',
  ),
  startup_wait_ms: integer(
    30_000,
    [0, 600_000],
    'How long the start tries to reach the database, once per second.',
  ),
  transaction_attempts: integer(
    8,
    [1, 32],
    'How often a transaction that met another one is tried.',
  ),
  auto_migrate: boolean(true, 'Applies pending migrations at start; otherwise they refuse it.'),
  backup_before_migrate: boolean(
    true,
    'Copies an embedded file of an older schema before it is migrated.',
  ),
  min_free_bytes: integer(
    268_435_456,
    [0, 1_099_511_627_776],
    'Free disk space below which the node is degraded; embedded only; 0 = no check.',
  ),
}
