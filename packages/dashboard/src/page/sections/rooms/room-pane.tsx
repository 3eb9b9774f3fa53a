import type { ConsoleClient } from '@guildhall/client/console'
import { api, type LiveRoom } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { duration, grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useName } from '../../data/names.ts'
import { serverNow, useNodeStatus } from '../../data/node-status.ts'
import { restful } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { type ReadWith, useRead } from '../../data/reads.ts'
import { useRestful } from '../../data/resting.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { isMissing } from '../../kit/error-state.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { ListHead } from '../../kit/table/list-head.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { StartCaptureButton } from '../lag/start-capture.tsx'
import { RpcCaller } from '../runtime/rpc-caller.tsx'
import { RoomState } from './room-state.tsx'

type Room = LiveRoom & { members: { participant: number; user_id: string | null }[] }

/** One room that goes on: who is in it, its record, and what may be done about it. */
export function RoomPane({ id, onClose }: { id: string; onClose(): void }) {
  const everyMs = useRestful(restful.room, (found: Room) => found)
  const room = useRead(['matches', 'one', id], (client) => client.matches.get({ params: { id } }), {
    everyMs,
  })
  const traffic = useTraffic(id)
  const { data, error } = room
  const isOver = isMissing(error)
  return (
    <Pane
      title={data?.name ? <Text>{data.name}</Text> : `Room ${id}`}
      label="Room"
      actions={data && !isOver && <RoomActions room={data} />}
      onClose={onClose}
    >
      {isOver ? (
        <Empty title="No such room now">
          What has ended stands in <Link to="/match-records">Match records</Link>.
        </Empty>
      ) : (
        <Await query={room}>
          {(found) => (
            <>
              <Facts
                rows={{
                  Room: id,
                  Name: found.name === null ? <None>unnamed</None> : <Text>{found.name}</Text>,
                  Map: <Text>{found.map}</Text>,
                  Mode: <Text>{found.mode}</Text>,
                  Players: playersOf(found),
                  Open: found.open ? 'yes' : 'no',
                  ...(found.node_id !== undefined && { Node: <Text>{found.node_id}</Text> }),
                  ...trafficFacts(traffic),
                  'Script revision': found.script_revision ?? <None>not bound to one</None>,
                }}
              />
              <Members room={found} read={room} />
              <ScriptCalls room={found} />
              <RoomState id={id} />
            </>
          )}
        </Await>
      )}
    </Pane>
  )
}

export function playersOf({ players, max_players }: LiveRoom): string {
  return max_players === 0 ? grouped(players) : `${grouped(players)} of ${grouped(max_players)}`
}

type Counted = Awaited<ReturnType<ConsoleClient['matches']['traffic']>>
type Traffic = {
  data: Counted
  perSecond: number | undefined
  hasRecord: boolean
}

/** How much comes into the room, between the last two readings. */
function useTraffic(id: string): Traffic | undefined {
  const everyMs = useRestful(restful.room, ({ messages_total }: Counted) => messages_total)
  const { data, readAtMs } = useRead(
    ['matches', 'traffic', id],
    (client) => client.matches.traffic({ params: { id } }),
    { everyMs },
  )
  const backend = useNodeStatus().data?.status.backend
  const total = data?.messages_total
  const [last, setLast] = useState<{ total: number; atMs: number; perSecond?: number }>()
  useEffect(() => {
    if (total === undefined) return
    setLast((before) => {
      if (before === undefined || readAtMs <= before.atMs) return { total, atMs: readAtMs }
      const perSecond = (1000 * (total - before.total)) / (readAtMs - before.atMs)
      return { total, atMs: readAtMs, perSecond: Math.max(0, perSecond) }
    })
  }, [total, readAtMs])
  if (data === undefined) return undefined
  return { data, perSecond: last?.perSecond, hasRecord: backend !== 'in-memory' }
}

function trafficFacts(traffic: Traffic | undefined) {
  if (traffic === undefined) return {}
  const { data, perSecond, hasRecord } = traffic
  const { opened_at_unix_ms, match_id, messages_total } = data
  const rate = perSecond === undefined ? '–' : grouped(Math.round(perSecond * 10) / 10)
  return {
    Age: duration(Math.max(0, serverNow() - opened_at_unix_ms)),
    'Messages a second': `${rate}, ${grouped(messages_total)} so far`,
    ...(hasRecord ? { Match: <RecordLink id={match_id} /> } : {}),
  }
}

function RecordLink({ id }: { id: string }) {
  return (
    <Link to="/match-records/$id" params={{ id }} title={id}>
      its record
    </Link>
  )
}

function RoomActions({ room }: { room: Room }) {
  const mayRecord = useMay(api.runtime.rpc)
  const mayClose = useMay(api.matches.close)
  const [isAsked, setAsked] = useState(false)
  const { id } = room
  const name = room.name ?? `room ${id}`
  const change = useChange({
    send: (client, room_id: string, idempotencyKey) =>
      client.matches.close({ params: { room_id }, idempotencyKey }),
    touches: ['matches', 'matchRecords'],
    done: `Closed ${name}`,
  })
  return (
    <>
      {mayRecord && <StartCaptureButton whom={{ room_id: id, name }} />}
      {mayClose && (
        <button type="button" className="danger" onClick={() => setAsked(true)}>
          Close room
        </button>
      )}
      {isAsked && (
        <Confirm
          title={`Close ${name}`}
          action="Close"
          danger={true}
          run={() => change.mutateAsync(String(id))}
          onClose={() => setAsked(false)}
        >
          The match ends for its {grouped(room.members.length)} members, who stay connected and are
          not asked to queue again. Its record says that the server closed it.
        </Confirm>
      )}
    </>
  )
}

function Members({ room, read }: { room: Room; read: ReadWith }) {
  const mayRemove = useMay(api.matches.remove)
  const [asked, setAsked] = useState<Room['members'][number]>()
  return (
    <>
      <ListHead title="Members" read={read} />
      <ul className="stack-tight" aria-label="Members">
        {room.members.map((member) => (
          <li key={member.participant} className="row">
            {member.user_id === null ? <Badge>guest</Badge> : <UserLink id={member.user_id} />}
            <span className="small muted">participant {member.participant}</span>
            <span className="grow" />
            {mayRemove && (
              <button type="button" className="tiny danger" onClick={() => setAsked(member)}>
                Remove<span className="unseen"> participant {member.participant}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {asked && <Remove room={room} member={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

type RemoveProps = { room: Room; member: Room['members'][number]; onClose(): void }

function Remove({ room, member: { participant, user_id }, onClose }: RemoveProps) {
  const known = useName(user_id ?? '')
  const name = user_id === null ? `guest ${participant}` : known
  const change = useChange({
    send: (client, participant: string, idempotencyKey) =>
      client.matches.remove({ params: { room_id: String(room.id), participant }, idempotencyKey }),
    touches: ['matches'],
    done: `Removed ${name}`,
  })
  return (
    <Confirm
      title={`Remove ${name} from ${room.name ?? `room ${room.id}`}`}
      action="Remove"
      danger={true}
      run={() => change.mutateAsync(String(participant))}
      onClose={onClose}
    >
      The match ends for them alone. They stay connected and may join again; a ban keeps them out.
      {room.members.length === 1 && ' The room ends with its last member.'}
    </Confirm>
  )
}

/** What the game offers for its rooms, called with the room at hand. */
function ScriptCalls({ room }: { room: Room }) {
  const mayCall = useMay(api.runtime.rpc)
  const [isOpen, setOpen] = useState(false)
  const runtime = useRead(['runtime'], (client) => client.runtime.get({}), { enabled: isOpen })
  if (!mayCall) return <Link to="/runtime">The script</Link>
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Call an RPC of the script about this room</summary>
      {isOpen && runtime.data && (
        <RpcCaller
          methods={runtime.data.script?.rpcs ?? []}
          payload={JSON.stringify({ room_id: room.id })}
        />
      )}
    </details>
  )
}
