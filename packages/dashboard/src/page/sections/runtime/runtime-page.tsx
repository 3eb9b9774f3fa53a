import { api, type RuntimeView } from '@guildhall/contract'
import { useNodeStatus } from '../../data/node-status.ts'
import { pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead } from '../../data/reads.ts'
import { OfNode } from '../../kit/of-node.tsx'
import { Card, Facts, Page } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { Badge, type Tone } from '../../kit/text/badge.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { Failures, RejectedChange, ScriptUse } from './failures.tsx'
import { RpcCaller } from './rpc-caller.tsx'

const tones: Readonly<Record<RuntimeView['readiness']['state'], Tone>> = {
  no_script: 'none',
  validating: 'accent',
  activating: 'accent',
  ready: 'ok',
  degraded: 'warn',
  unavailable: 'bad',
}

export function RuntimePage() {
  // What changes in the script is known by the status, and read again then.
  useNodeStatus(pace.script)
  const runtime = useRead(['runtime'], (client) => client.runtime.get({}))
  const mayCall = useMay(api.runtime.rpc)
  return (
    <Page title="Runtime" actions={<OfNode route={api.runtime.get} />}>
      <div className="page-scroll">
        <Await query={runtime}>
          {(view) => (
            <div className="stack">
              <div className="cards fit">
                <Readiness view={view} />
                <Engine view={view} />
              </div>
              <RejectedChange />
              <Failures />
              <div className="columns">
                <Registered view={view} />
                {mayCall && <RpcCaller methods={view.script?.rpcs ?? []} />}
              </div>
              <ScriptUse />
            </div>
          )}
        </Await>
      </div>
    </Page>
  )
}

function Readiness({ view: { readiness } }: { view: RuntimeView }) {
  const { state, revision_id, generation, since_unix_millis, recovery } = readiness
  return (
    <Card title="Readiness">
      <Facts
        rows={{
          State: <Badge tone={tones[state]}>{state.replaceAll('_', ' ')}</Badge>,
          Since: <ExactTime at={since_unix_millis} />,
          Revision: revision_id === null ? <None /> : <code>{revision_id}</code>,
          Generation: generation,
          Failures: `${recovery.consecutive_failures} of ${recovery.restart_limit} in a row`,
          'Restarts given up': recovery.circuit_open ? <Badge tone="bad">yes</Badge> : 'no',
        }}
      />
    </Card>
  )
}

function Engine({ view }: { view: RuntimeView }) {
  const { selected_language, selection_source, entrypoint, script } = view
  return (
    <Card title="Engine">
      <Facts
        rows={{
          Language: selected_language ?? <None />,
          Chosen: selection_source ?? <None />,
          Entry: entrypoint === null ? <None /> : <Text>{entrypoint}</Text>,
          Adapter: `${view.adapter}, ${view.tier}`,
          'Serves calls': view.attached ? 'yes' : 'no',
          'Calls on_tick': view.tick_hz === 0 ? 'never' : `${view.tick_hz} times a second`,
          Deadline: script === null ? <None /> : `${script.deadline_ms} ms a call`,
          'Needed for play': view.require_script ? 'yes' : 'no',
        }}
      />
    </Card>
  )
}

function Registered({ view: { script } }: { view: RuntimeView }) {
  return (
    <Card title="What the script registered">
      {script === null ? (
        <None>No script.</None>
      ) : (
        <Facts
          rows={{
            Hooks: <Names names={script.hooks} />,
            RPCs: <Names names={script.rpcs} />,
            'Message kinds': <Names names={script.message_kinds.map(String)} />,
          }}
        />
      )}
    </Card>
  )
}

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <None />
  return (
    <span className="row">
      {names.map((name) => (
        <code key={name}>
          <Text>{name}</Text>
        </code>
      ))}
    </span>
  )
}
