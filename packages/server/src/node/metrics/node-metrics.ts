import type { MatchmakerTotals, Status } from '@guildhall/contract'
import type { DatabaseStats } from '../../database/database.ts'
import type { Backlog } from '../../features/feature.ts'
import type { MetricFamily, Sample } from '../../kernel/metrics/metric-family.ts'
import { isCounter, metricHelp } from './metric-names.ts'

/** What the page reads of the node each time it is asked for. */
export type NodeReadings = {
  /** The body of `/status`, less what the shell adds. */
  status: Omit<Status, 'status' | 'node_id' | 'version' | 'build'>
  version: string
  nowUnixMs: number
  /** Of the database. */
  stats: DatabaseStats
  /** Queues that wait for a writer, for the script or for a match. */
  queues: readonly Backlog[]
  matchmaker: MatchmakerTotals
  /** CPU of the script's handlers since the start. */
  scriptCpu: readonly { hook: string; name: string; seconds: number }[]
  /** CPU of the script's processes since the start. */
  scriptProcessCpuSeconds: number
  hashingDepth: number
  /** Attempts that a limit refused, by rule. */
  admissionRefusals: ReadonlyMap<string, number>
  logLinesDropped: number
  /** Of lag diagnostics: uploads by their result, captures of this boot by their state. */
  lag: { uploads: ReadonlyMap<string, number>; captures: Readonly<Record<string, number>> }
  /** When the certificate of the listener ends; undefined without TLS. */
  certificateEndsUnixMs: number | undefined
}

type Reading = number | Iterable<readonly [label: string, value: number]> | undefined

type Row = {
  name: string
  help: string
  type: 'counter' | 'gauge'
  label?: string
  read(node: NodeReadings): Reading
}

/** Names of `/status` that the page has with labels, under the same name. */
const labelledElsewhere = new Set(['http_requests_total', 'admission_refused_total'])

const flatRows: readonly Row[] = Object.entries(metricHelp)
  .filter(([name]) => !labelledElsewhere.has(name))
  .map(([name, help]) => ({
    name,
    help,
    type: isCounter(name) ? 'counter' : 'gauge',
    read: ({ status }) => status.metrics[name],
  }))

const rows: readonly Row[] = [
  {
    name: 'uptime_seconds',
    help: 'Seconds since the start.',
    type: 'gauge',
    read: ({ status }) => status.uptime_seconds,
  },
  ...flatRows,
  {
    name: 'admission_refused_total',
    help: 'Attempts that a limit refused, by rule.',
    type: 'counter',
    label: 'rule',
    read: ({ admissionRefusals }) => admissionRefusals,
  },
  {
    name: 'password_hash_queue_depth',
    help: 'Passwords that wait to be hashed.',
    type: 'gauge',
    read: ({ hashingDepth }) => hashingDepth,
  },
  {
    name: 'db_connections',
    help: 'Connections of PostgreSQL by state; waiting are callers without one.',
    type: 'gauge',
    label: 'state',
    read: ({ status, stats }) =>
      status.backend === 'postgres'
        ? [
            ['active', stats.in_use],
            ['waiting', stats.waiting],
          ]
        : [],
  },
  {
    name: 'database_state',
    help: 'State of the database: 0 up, 1 suspect, 2 down.',
    type: 'gauge',
    read: ({ status }) => ['up', 'suspect', 'down'].indexOf(status.database.state),
  },
  {
    name: 'database_contention_total',
    help: 'Transactions given up because others were always in their way.',
    type: 'counter',
    read: ({ stats }) => stats.contention_total,
  },
  {
    name: 'queue_depth',
    help: 'Rows, calls or tickets that wait.',
    type: 'gauge',
    label: 'queue',
    read: ({ queues }) => queues.map(({ name, depth }) => [name, depth]),
  },
  {
    name: 'queue_capacity',
    help: 'Rows, calls or tickets that may wait.',
    type: 'gauge',
    label: 'queue',
    read: ({ queues }) => queues.map(({ name, capacity }) => [name, capacity]),
  },
  {
    name: 'queue_dropped_total',
    help: 'Rows that were lost because their queue was full.',
    type: 'counter',
    label: 'queue',
    read: ({ queues }) => queues.map(({ name, dropped }) => [name, dropped]),
  },
  {
    name: 'matchmaker_passes_total',
    help: 'Passes of the matchmaker over its queue.',
    type: 'counter',
    read: ({ matchmaker }) => matchmaker.evaluations_total,
  },
  {
    name: 'matchmaker_pass_seconds_total',
    help: 'Time of the event loop that passes of the matchmaker took.',
    type: 'counter',
    read: ({ matchmaker }) => matchmaker.evaluation_duration_us_total / 1_000_000,
  },
  {
    name: 'matchmaker_matches_formed_total',
    help: 'Rooms that the matchmaker has made.',
    type: 'counter',
    read: ({ matchmaker }) => matchmaker.matches_formed_total,
  },
  {
    name: 'matchmaker_tickets_total',
    help: 'Tickets that have left the queue: matched, cancelled, or too old.',
    type: 'counter',
    label: 'outcome',
    read: ({ matchmaker }) => [
      ['matched', matchmaker.tickets_formed_total],
      ['cancelled', matchmaker.tickets_cancelled_total],
      ['expired', matchmaker.tickets_expired_total],
    ],
  },
  {
    name: 'task_restarts_total',
    help: 'Restarts of background tasks.',
    type: 'counter',
    label: 'task',
    read: ({ status }) => status.tasks.map(({ name, restarts }) => [name, restarts]),
  },
  {
    name: 'task_failing',
    help: 'Whether a task is backing off or stalled.',
    type: 'gauge',
    label: 'task',
    read: ({ status }) => status.tasks.map(({ name, state }) => [name, failing(state)]),
  },
  {
    name: 'retention_pruned_total',
    help: 'Rows that this node removed, by kind.',
    type: 'counter',
    label: 'data',
    read: ({ status }) => status.retention.map(({ data, pruned_total }) => [data, pruned_total]),
  },
  {
    name: 'retention_behind',
    help: 'Whether more rows are left to remove.',
    type: 'gauge',
    label: 'data',
    read: ({ status }) => status.retention.map(({ data, behind }) => [data, Number(behind)]),
  },
  {
    name: 'scheduler_boards_failing',
    help: 'Boards whose reset fails.',
    type: 'gauge',
    read: ({ status }) => status.scheduler.boards_failing,
  },
  {
    name: 'scheduler_lag_seconds',
    help: 'How long ago the next board was due; 0 while none is late.',
    type: 'gauge',
    label: 'job',
    read: ({ status: { scheduler }, nowUnixMs }) => {
      const dueMs = scheduler.next_due_at_unix_ms ?? nowUnixMs
      return [['boards', Math.max(0, nowUnixMs - dueMs) / 1000]]
    },
  },
  {
    name: 'script_process_cpu_seconds_total',
    help: "CPU time of the script's processes, handlers included; they say it once a second.",
    type: 'counter',
    read: ({ scriptProcessCpuSeconds }) => scriptProcessCpuSeconds,
  },
  {
    name: 'lag_uploads_total',
    help: 'Uploads of lag recordings, by what became of them.',
    type: 'counter',
    label: 'result',
    read: ({ lag }) => lag.uploads,
  },
  {
    name: 'lag_captures',
    help: 'Lag captures of this boot, by state.',
    type: 'gauge',
    label: 'state',
    read: ({ lag }) => Object.entries(lag.captures),
  },
  {
    name: 'log_lines_dropped_total',
    help: 'Log lines that standard error did not take.',
    type: 'counter',
    read: ({ logLinesDropped }) => logLinesDropped,
  },
  {
    name: 'certificate_not_after_seconds',
    help: 'Unix time at which the certificate of the listener ends.',
    type: 'gauge',
    read: ({ certificateEndsUnixMs: endsMs }) => endsMs && Math.floor(endsMs / 1000),
  },
]

/** The families that say how the node is, without those of single requests and statements. */
export function nodeFamilies(read: () => NodeReadings): MetricFamily[] {
  let readings: NodeReadings | undefined
  const node = () => {
    readings ??= read()
    return readings
  }
  return [
    {
      name: 'build_info',
      help: 'Version and backend of the node; always 1.',
      labels: ['version', 'backend'],
      type: 'gauge',
      samples() {
        const { version, status } = node()
        return [{ labels: { version, backend: status.backend }, value: 1 }]
      },
    },
    {
      name: 'script_cpu_seconds_total',
      help: 'CPU of script handlers; the 200 that used most, and `other`.',
      labels: ['hook', 'name'],
      type: 'counter',
      samples: () =>
        node().scriptCpu.map(({ hook, name, seconds }) => ({
          labels: { hook, name },
          value: seconds,
        })),
    },
    ...rows.map(({ label, read: readRow, ...head }) => ({
      ...head,
      labels: label === undefined ? [] : [label],
      samples: () => samplesOf(readRow(node()), label ?? ''),
    })),
  ]
}

function samplesOf(reading: Reading, label: string): Sample<number>[] {
  if (reading === undefined) return []
  if (typeof reading === 'number') return [{ labels: {}, value: reading }]
  return Array.from(reading, ([name, value]) => ({ labels: { [label]: name }, value }))
}

function failing(state: string): number {
  return Number(state === 'backing_off' || state === 'stalled')
}
