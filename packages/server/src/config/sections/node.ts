import { boolean, choice, integer, pathUnset, string } from '../key.ts'
import { address, logLevel, nodeId, urlPath } from '../values/formats.ts'

export const server = {
  node_id: string('dev-1', nodeId, 'Name of this node; unique per deployment.'),
  public_addr: string('127.0.0.1:7350', address, 'Where players reach the node; shown only.'),
  processes: integer(
    1,
    [1, 256],
    'Nodes that one command runs behind the same addresses, e.g. one for each core; above 1 it ' +
      'needs `cluster.enabled`. Their ids are `<node_id>-1` and up.',
  ),
}

export const logging = {
  level: string(
    'info',
    logLevel,
    'Least severe level that is written. Unset, in format `pretty` and without `--log`, a node ' +
      'writes warnings, errors and the lines of its script.',
  ),
  format: choice('pretty', ['pretty', 'json'], 'For people, or one JSON object per line.'),
  access: choice(
    'errors',
    ['off', 'errors', 'all'],
    'Which requests get a line; `errors` are those answered with 5xx or 429.',
  ),
  client_addresses: choice(
    'truncated',
    ['off', 'truncated', 'full'],
    'How much of a client address is logged; `truncated` keeps IPv4 /24 and IPv6 /48.',
  ),
}

export const errors = {
  directory: pathUnset(
    'Folder of the error journal; unset, that of the embedded database file or, with ' +
      'PostgreSQL, the working directory. In memory there is no file.',
  ),
  max_bytes: integer(8_388_608, [65_536, 1_073_741_824], 'Largest journal file.'),
  max_entries: integer(2_000, [1, 100_000], 'Most entries in the journal.'),
}

export const metrics = {
  enabled: boolean(false, 'Serves metrics on a listener of its own.'),
  bind: string(
    '127.0.0.1:9464',
    address,
    'Address of the metrics listener; beyond loopback it needs `api_key` and TLS.',
  ),
  auth: choice('api_key', ['api_key', 'none'], 'Who may scrape; `none` on loopback only.'),
  path: string('/metrics', urlPath, 'Path of the metrics page.'),
}

export const scheduler = {
  enabled: boolean(true, 'When off, this node never takes the lease of scheduled work.'),
  interval_ms: integer(1_000, [100, 60_000], 'Longest sleep between two passes.'),
  lease_ttl_ms: integer(
    15_000,
    [3_000, 600_000],
    'Life of a lease that is not renewed; at least three times the interval.',
  ),
}

export const retention = {
  interval_sec: integer(300, [1, 86_400], 'Time between two retention passes.'),
  batch_items: integer(500, [1, 100_000], 'Rows deleted per transaction.'),
}

export const shutdown = {
  drain_delay_ms: integer(
    0,
    [0, 60_000],
    'Wait between losing readiness and closing the listeners, for load balancers.',
  ),
  deadline_ms: integer(25_000, [1_000, 300_000], 'Time for the whole shutdown.'),
}
