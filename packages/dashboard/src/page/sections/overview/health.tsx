import type { Status } from '@guildhall/contract'
import { duration, grouped } from '../../../model/time.ts'
import { useNodeStatus, useReadiness } from '../../data/node-status.ts'
import { givenListing } from '../../data/reads.ts'
import { useExecutesResets } from '../../data/reset-schedules.ts'
import { Card, FactStrip } from '../../kit/page.tsx'
import { Await, Skeleton } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge, type Tone } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

/** What the node is, and whether it is ready, in few lines. */
export function Node() {
  const status = useNodeStatus()
  return (
    <Card title="Node">
      <div className="stack">
        <Await query={status}>{({ status }) => factsOf(status)}</Await>
        <Checks />
      </div>
    </Card>
  )
}

function Checks() {
  const readiness = useReadiness()
  return (
    <Await query={readiness}>
      {({ checks }) => (
        <ul className="row" aria-label="Readiness">
          {checks.map((check) => (
            <li key={check.name}>
              <Badge tone={check.ok ? 'ok' : 'bad'}>{checkWords(check)}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Await>
  )
}

type Check = { name: string; ok: boolean; failing?: readonly string[] | undefined }

function checkWords({ name, ok, failing = [] }: Check): string {
  // The check of this name holds while the node does not drain.
  if (name === 'draining') return ok ? 'not draining' : 'draining'
  const words = `${name.replaceAll('_', ' ')} ${ok ? 'ok' : 'failing'}`
  return failing.length === 0 ? words : `${words}: ${failing.join(', ')}`
}

function factsOf(status: Status) {
  const { node_id, version, build, backend, database, runtime, transports, scheduler } = status
  return (
    <FactStrip
      rows={{
        Node: <Text>{node_id}</Text>,
        Version: `${version} (${build.os} ${build.arch}, ${build.profile})`,
        'Up for': duration(status.uptime_seconds * 1000),
        Database: (
          <span className="row">
            {backend} <Badge tone={database.state === 'up' ? 'ok' : 'bad'}>{database.state}</Badge>
          </span>
        ),
        Transports: <Transports transports={transports} />,
        Script: runtime.enabled ? runtime.readiness.replaceAll('_', ' ') : 'off',
        'Scheduled boards': <Scheduled scheduler={scheduler} />,
      }}
    />
  )
}

function Scheduled({ scheduler }: Pick<Status, 'scheduler'>) {
  const { leader, boards_scheduled, boards_failing } = scheduler
  const isRun = useExecutesResets()
  if (isRun === false) return <None>not executed</None>
  const failing = boards_failing > 0 ? `, ${boards_failing} failing` : ''
  const where = leader ? 'executed here' : 'executed by another node'
  return `${grouped(boards_scheduled)}${failing}${isRun ? `, ${where}` : ''}`
}

function Transports({ transports }: { transports: Status['transports'] }) {
  return (
    <span className="row">
      {Object.entries(transports).map(([name, { enabled, available, bind }]) => (
        <span key={name}>
          {name}{' '}
          {available ? (
            <span className="mono small muted">{bind}</span>
          ) : (
            <None>{enabled ? 'not available' : 'off'}</None>
          )}
        </span>
      ))}
    </span>
  )
}

type Task = Status['tasks'][number]
const taskTones: Readonly<Record<Task['state'], Tone>> = {
  running: 'ok',
  waiting: 'none',
  backing_off: 'warn',
  stalled: 'bad',
  stopped: 'none',
}

const taskColumns: readonly Column<Task>[] = [
  { key: 'name', head: 'Task', cell: ({ name }) => name },
  {
    key: 'state',
    head: 'State',
    width: 116,
    cell: ({ state }) => <Badge tone={taskTones[state]}>{state.replaceAll('_', ' ')}</Badge>,
  },
  {
    key: 'restarts',
    medium: true,
    head: 'Restarts',
    width: 80,
    align: 'number',
    cell: ({ restarts }) => restarts,
  },
  {
    key: 'last',
    head: 'Last run',
    width: 100,
    cell: ({ last_run_unix_ms }) => <Time at={last_run_unix_ms} />,
  },
]

export function Tasks() {
  const { data, dataUpdatedAt, refetch } = useNodeStatus()
  if (data === undefined) return <Skeleton />
  const { tasks, write_behind } = data.status
  const read = { readAtMs: dataUpdatedAt, refetch }
  return (
    <div className="stack">
      <Card title="Background tasks">
        <DataTable
          label="Background tasks"
          columns={taskColumns}
          listing={givenListing('tasks', tasks, read)}
          rowKey={({ name }) => name}
          empty={<None />}
          inline={true}
        />
      </Card>
      <Card title="Queues to the database">
        <DataTable
          label="Queues to the database"
          columns={queueColumns}
          listing={givenListing('queues', write_behind, read)}
          rowKey={({ name }) => name}
          empty={<None />}
          inline={true}
        />
      </Card>
    </div>
  )
}

type Queue = Status['write_behind'][number]

const queueColumns: readonly Column<Queue>[] = [
  { key: 'name', head: 'Queue', cell: ({ name }) => name },
  { key: 'queued', head: 'Queued', width: 80, align: 'number', cell: (it) => grouped(it.queued) },
  {
    key: 'written',
    medium: true,
    head: 'Written',
    width: 90,
    align: 'number',
    cell: (it) => grouped(it.written),
  },
  { key: 'lost', head: 'Lost', width: 70, align: 'number', cell: (it) => grouped(it.dropped) },
]
