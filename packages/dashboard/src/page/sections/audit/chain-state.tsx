import { useNodeStatus } from '../../data/node-status.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { Time } from '../../kit/text/time.tsx'

/** The task that links new rows to the chain runs on the node that holds its lease. */
const sealer = 'audit-sealer'

/** Whether the rows of the durable trail are linked to each other by this node. */
export function ChainState() {
  const task = useNodeStatus().data?.status.tasks.find(({ name }) => name === sealer)
  if (task === undefined) return <span className="muted">durable trail</span>
  const isWell = task.state === 'running' || task.state === 'waiting'
  return (
    <span className="row">
      <Badge tone={isWell ? 'ok' : 'bad'}>
        {isWell ? 'chain is sealed' : `chain is not sealed: ${task.state.replaceAll('_', ' ')}`}
      </Badge>
      <span className="muted">
        sealer ran <Time at={task.last_run_unix_ms} />
      </span>
    </span>
  )
}
