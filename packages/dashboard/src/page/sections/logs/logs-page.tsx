import { type LogLine, logLevels } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { keepQuery, usePathPart, useQueryPart } from '../../data/location.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { Facts, Page, Pane, Split } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { FilterChoice, FilterInput } from '../../kit/table/filter.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { AuthorJson } from './author-json.tsx'
import { levelTones, lineColumns, MatchLink, matchColumn } from './log-lines.tsx'

export function LogsPage() {
  const [level, setLevel] = useQueryPart('level')
  const [tag, setTag] = useQueryPart('tag')
  const [match, setMatch] = useQueryPart('match')
  const [durability, setDurability] = useState<Durability>()
  const id = usePathPart('id')
  const navigate = useNavigate()
  const filters = {
    limit: 200,
    ...(level === '' ? {} : { level: level as LogLine['level'] }),
    ...(tag === '' ? {} : { tag }),
    ...(match === '' ? {} : { match_id: match }),
  }
  const listing = usePages(
    ['scriptLogs', level, tag, match],
    async (client, after?: string) => {
      const page = await client.scriptLogs.list({ query: { ...filters, after } })
      setDurability(page)
      return { items: page.items, next: page.next_after }
    },
    { follow: keyOf },
  )
  const open = (log: string) =>
    void navigate({ to: '/logs/$id', params: { id: log }, search: keepQuery })
  const list = (
    <>
      <div className="page-tools">
        <FilterChoice label="Level" value={level} choices={logLevels} onValue={setLevel} />
        <FilterInput label="Tag begins with" value={tag} onValue={setTag} isMain={true} />
        <FilterInput label="Match id" value={match} onValue={setMatch} />
        <span className="grow" />
        <DurabilityNote durability={durability} />
      </div>
      <DataTable
        label="Log lines"
        columns={[...lineColumns, matchColumn]}
        listing={listing}
        rowKey={keyOf}
        openKey={id}
        onOpen={({ log_id }) => open(log_id)}
        empty={<NoLines isDurable={durability?.durable ?? true} />}
      />
    </>
  )
  const close = () => void navigate({ to: '/logs', search: keepQuery })
  return (
    <Page title="Script logs">
      <Split list={list} pane={id && <LinePane key={id} id={id} onClose={close} />} />
    </Page>
  )
}

const keyOf = ({ log_id }: LogLine) => log_id

type Durability = { durable: boolean; dropped_total: number }

export function DurabilityNote({ durability }: { durability: Durability | undefined }) {
  if (durability === undefined || durability.dropped_total === 0) return null
  return <Badge tone="bad">{`${grouped(durability.dropped_total)} lost since the start`}</Badge>
}

function NoLines({ isDurable }: { isDurable: boolean }) {
  if (!isDurable) return <NotKept />
  return <Empty title="No lines">Scripts write them with guildhall.log.write.</Empty>
}

export function NotKept() {
  return <Empty title="Nothing is kept in memory">It needs a database file or PostgreSQL.</Empty>
}

function LinePane({ id, onClose }: { id: string; onClose(): void }) {
  const line = useRead(['scriptLogs', 'one', id], (client) =>
    client.scriptLogs.get({ params: { log_id: id }, query: {} }),
  )
  return (
    <Pane title="Log line" label="Log line" onClose={onClose}>
      <Await query={line}>
        {(found) => (
          <>
            <p className="break">
              <Text>{found.message}</Text>
            </p>
            <Facts
              rows={{
                Level: <Badge tone={levelTones[found.level]}>{found.level}</Badge>,
                Tag: <Text>{found.tag}</Text>,
                When: <ExactTime at={found.created_at_unix_ms} />,
                Match: found.match_id === null ? <None /> : <MatchLink id={found.match_id} />,
                Node: <Text>{found.node_id}</Text>,
                Id: <Copyable>{found.log_id}</Copyable>,
              }}
            />
            <AuthorJson text={found.payload_json} label="Payload" />
          </>
        )}
      </Await>
    </Pane>
  )
}
