import type { Status } from '@guildhall/contract'
import type { MetricFamily, Sample } from '../../kernel/metrics/metric-family.ts'
import { isCounter, metricHelp } from './metric-names.ts'

type StatusBody = Omit<Status, 'status' | 'node_id' | 'build'>

/** What the page reads of the node whenever it is asked for. */
export type NodeReadings = {
  /** The body of `/status`. */
  status(): StatusBody
  /** Connections of the database by state; empty where it has none. */
  databaseConnections(): { active: number; idle: number; waiting: number } | undefined
  contentionTotal(): number
  /** How full the queues are that wait for a writer or for the script. */
  queues(): readonly { name: string; depth: number; capacity: number; dropped: number }[]
  hashingDepth(): number
  /** Attempts that a limit refused, by rule. */
  admissionRefusals(): ReadonlyMap<string, number>
  logLinesDropped(): number
  /** When the certificate of the listener ends; undefined without TLS. */
  certificateEndsUnixMs(): number | undefined
}

/** Names of `/status` that the page has with labels, under the same name. */
const labelledElsewhere = new Set(['http_requests_total', 'admission_refused_total'])

/** The families that say how the node is, without those of single requests and statements. */
export function nodeFamilies(readings: NodeReadings): MetricFamily[] {
  const gauge = family(readings, 'gauge')
  const counter = family(readings, 'counter')
  return [
    gauge(
      'build_info',
      'Version and backend of the node; always 1.',
      ({ status: { version, backend } }) => [{ labels: { version, backend }, value: 1 }],
    ),
    gauge('uptime_seconds', 'Seconds since the start.', ({ status }) =>
      single(status.uptime_seconds),
    ),
    ...flatFamilies(readings),
    counter('admission_refused_total', 'Attempts that a limit refused, by rule.', () =>
      byLabel('rule', readings.admissionRefusals()),
    ),
    gauge('password_hash_queue_depth', 'Passwords that wait to be hashed.', () =>
      single(readings.hashingDepth()),
    ),
    gauge('db_connections', 'Connections of the database by state.', () =>
      byLabel('state', Object.entries(readings.databaseConnections() ?? {})),
    ),
    gauge('database_state', 'State of the database: 0 up, 1 suspect, 2 down.', ({ status }) =>
      single(['up', 'suspect', 'down'].indexOf(status.database.state)),
    ),
    counter('database_contention_total', 'Transactions given up because of others.', () =>
      single(readings.contentionTotal()),
    ),
    gauge('queue_depth', 'Rows or calls that wait.', () => ofQueues(readings, 'depth')),
    gauge('queue_capacity', 'Rows or calls that may wait.', () => ofQueues(readings, 'capacity')),
    counter('queue_dropped_total', 'Rows that were lost because a queue was full.', () =>
      ofQueues(readings, 'dropped'),
    ),
    ...taskFamilies(readings),
    counter('log_lines_dropped_total', 'Log lines that standard error did not take.', () =>
      single(readings.logLinesDropped()),
    ),
    gauge('certificate_not_after_seconds', 'Unix time at which the certificate ends.', () => {
      const endsMs = readings.certificateEndsUnixMs()
      return endsMs === undefined ? [] : single(Math.floor(endsMs / 1000))
    }),
  ]
}

/** The background loops, the retention and the scheduler. */
function taskFamilies(readings: NodeReadings): MetricFamily[] {
  const gauge = family(readings, 'gauge')
  const counter = family(readings, 'counter')
  return [
    counter('task_restarts_total', 'Restarts of background tasks.', ({ status }) =>
      byLabel(
        'task',
        status.tasks.map(({ name, restarts }) => [name, restarts] as const),
      ),
    ),
    gauge('task_failing', 'Whether a task is backing off or stalled.', ({ status }) =>
      byLabel(
        'task',
        status.tasks.map(({ name, state }) => [name, failing(state)] as const),
      ),
    ),
    counter('retention_pruned_total', 'Rows removed by this node, by kind.', ({ status }) =>
      byLabel(
        'data',
        status.retention.map((row) => [row.data, row.pruned_total] as const),
      ),
    ),
    gauge('retention_behind', 'Whether more rows are left to remove.', ({ status }) =>
      byLabel(
        'data',
        status.retention.map((row) => [row.data, Number(row.behind)] as const),
      ),
    ),
    gauge('scheduler_boards_failing', 'Boards whose reset fails.', ({ status }) =>
      single(status.scheduler.boards_failing),
    ),
  ]
}

function failing(state: string): number {
  return Number(state === 'backing_off' || state === 'stalled')
}

/** Every counter and gauge of `/status` under its own name. */
function flatFamilies(readings: NodeReadings): MetricFamily[] {
  return Object.entries(metricHelp)
    .filter(([name]) => !labelledElsewhere.has(name))
    .map(([name, help]) => ({
      name,
      help,
      type: isCounter(name) ? 'counter' : 'gauge',
      samples() {
        const value = readings.status().metrics[name]
        return value === undefined ? [] : single(value)
      },
    }))
}

type Reading = { status: StatusBody }

function family(readings: NodeReadings, type: 'counter' | 'gauge') {
  return (
    name: string,
    help: string,
    read: (reading: Reading) => Sample<number>[],
  ): MetricFamily => ({ name, help, type, samples: () => read({ status: readings.status() }) })
}

function single(value: number): Sample<number>[] {
  return [{ labels: {}, value }]
}

function byLabel(label: string, values: Iterable<readonly [string, number]>): Sample<number>[] {
  return Array.from(values, ([name, value]) => ({ labels: { [label]: name }, value }))
}

function ofQueues(readings: NodeReadings, what: 'depth' | 'capacity' | 'dropped') {
  return readings.queues().map((queue) => ({ labels: { queue: queue.name }, value: queue[what] }))
}
