import { createInstruments } from '../../packages/server/src/node/metrics/instruments.ts'

const introduction = `# Metrics

A node serves its metrics on an address of its own, in the text format of Prometheus:

\`\`\`toml
[metrics]
enabled = true
bind = "127.0.0.1:9464"
auth = "api_key"          # or "none", on loopback only
\`\`\`

The page is at \`/metrics\`. With \`auth = "api_key"\` it needs an API key with
\`telemetry:read\` as a bearer. [grafana-dashboard.json](grafana-dashboard.json) is a
dashboard for Grafana: import it and choose your Prometheus as its data source.

## Five curves to watch

1. **Event loop lag** (\`guildhall_event_loop_lag_seconds\`): the 99th percentile stays
   below 10 ms on a healthy node. Above 50 ms players feel it: look for a large export, a
   script that floods the node, or too many players for one core.
2. **Time of requests** (\`guildhall_http_request_duration_seconds\`): the 99th percentile
   without email sign-ins stays below 50 ms. When it grows and the lag does not, the
   database is slow: compare \`guildhall_db_transaction_duration_seconds\`.
3. **Errors**: answers with 5xx, \`guildhall_database_errors_total\`,
   \`guildhall_script_call_errors_total\`. Each should be flat. The error journal and the
   log have the causes.
4. **Queues** (\`guildhall_queue_depth\` over \`guildhall_queue_capacity\`): above 0.9
   \`/health\` is degraded; \`guildhall_queue_dropped_total\` must not grow.
5. **Players** (\`guildhall_participants_active\`, \`guildhall_rooms_active\`): a cliff is a
   lost network or a restart; a slope that does not come back at night is a leak of
   connections.

Alarms that are worth a night: \`up == 0\`, \`guildhall_database_state == 2\` for a minute,
\`rate(guildhall_queue_dropped_total[5m]) > 0\`, \`guildhall_task_failing == 1\` for ten
minutes, \`guildhall_script_readiness_state >= 4\` for a minute where a script is required.

## Every metric

Counters grow from the start of the process. No label names a player, session, participant
or address. Route labels are templates of the API reference; \`other\` is every unknown
path.

| Name | Type | Labels | Meaning |
| --- | --- | --- | --- |
`

/** The page of the metrics: how to read them, and all of them. */
export function renderMetricsPage(): string {
  const instruments = createInstruments({ monotonicMs: () => 0 })
  const rows = instruments
    .describe(() => {
      throw new Error('the page of the manual reads no node')
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labels, help }) => `| ${name} | ${type} | ${labels.join(', ')} | ${help} |`)
  return `${introduction}${rows.join('\n')}\n`
}
