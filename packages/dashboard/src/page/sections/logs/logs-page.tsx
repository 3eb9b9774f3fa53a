import { type LogLine, linesLookedThrough, logLevels } from '@guildhall/contract'
import { useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { findAccounts } from '../../data/accounts.ts'
import { useQueryPart } from '../../data/location.ts'
import { isAsked } from '../../data/name-batch.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { type Listing, usePages, useRead } from '../../data/reads.ts'
import { Facts, Pane } from '../../kit/page.tsx'
import { Section } from '../../kit/section.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import { FilterChoice, FilterInput, FilterTime, timeOf } from '../../kit/table/filter.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { AuthorJson } from './author-json.tsx'
import { levelTones, lineColumns, MatchLink, matchColumn } from './log-lines.tsx'

export function LogsPage() {
  const [level, setLevel] = useQueryPart('level')
  const [text, setText] = useQueryPart('text')
  const [tag, setTag] = useQueryPart('tag')
  const [match, setMatch] = useQueryPart('match')
  const [from, setFrom] = useQueryPart('from')
  const [to, setTo] = useQueryPart('to')
  const { listing, durability, reach } = useLines({ level, text, tag, match, from, to })
  return (
    <Section
      title="Script logs"
      label="Log lines"
      columns={[...lineColumns, matchColumn]}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedPath('/logs')}
      tools={
        <>
          <FilterInput label="Message contains" value={text} onValue={setText} isMain={true} />
          <FilterChoice label="Level" value={level} choices={logLevels} onValue={setLevel} />
          <FilterInput label="Tag begins with" value={tag} onValue={setTag} />
          <FilterInput label="Match id" value={match} onValue={setMatch} />
          <FilterTime label="From" value={from} onValue={setFrom} />
          <FilterTime label="to" value={to} onValue={setTo} />
          <span className="grow" />
          <DurabilityNote durability={durability} />
        </>
      }
      pane={({ key, close }) => <LinePane id={key} onClose={close} />}
      empty={
        <NoLines
          isDurable={durability?.durable ?? true}
          isNarrowed={[level, text, tag, match, from, to].some((part) => part !== '')}
          listing={listing}
          reach={reach}
          text={text}
          onText={setText}
        />
      }
      foot={reach && listing.hasMore ? <Reach {...reach} count={listing.rows.length} /> : undefined}
    />
  )
}

type Filter = Record<'level' | 'text' | 'tag' | 'match' | 'from' | 'to', string>
/** How far back the lines were looked through, of one question. */
type Reached = { asked: string; unixMs: number }

function useLines(filter: Filter) {
  const { level, text, tag, match, from, to } = filter
  const [durability, setDurability] = useState<Durability>()
  const [reached, setReached] = useState<Reached>()
  const query = {
    limit: 200,
    ...(level === '' ? {} : { level: level as LogLine['level'] }),
    ...(text.trim() === '' ? {} : { text }),
    ...(tag === '' ? {} : { tag }),
    ...(match === '' ? {} : { match_id: match }),
    from: timeOf(from),
    to: timeOf(to),
  }
  const asked = JSON.stringify(query)
  const listing = usePages(
    ['scriptLogs', query],
    async (client, after?: string) => {
      const page = await client.scriptLogs.search({ query: { ...query, after } })
      setDurability(page)
      const unixMs = page.looked_back_to_unix_ms
      // The newest page is read again and again, and ends before those behind it.
      if (unixMs !== undefined) setReached((before) => farther(before, { asked, unixMs }))
      return { items: page.items, next: page.next_after }
    },
    // Where nothing is kept nothing comes, and each reading would stand in the audit ring.
    durability?.durable === false ? {} : { follow },
  )
  return { listing, durability, reach: reached?.asked === asked ? reached : undefined }
}

function farther(before: Reached | undefined, now: Reached): Reached {
  return before?.asked === now.asked && before.unixMs < now.unixMs ? before : now
}

const keyOf = ({ log_id }: LogLine) => log_id
const follow = { key: keyOf }

/** What a search went through so far: one page of it ends behind so many lines. */
function Reach({ unixMs, count }: Reached & { count: number }) {
  return (
    <>
      {grouped(count)} found back to <ExactTime at={unixMs} />
    </>
  )
}

type Durability = { durable: boolean; dropped_total: number }

export function DurabilityNote({ durability }: { durability: Durability | undefined }) {
  if (durability === undefined || durability.dropped_total === 0) return null
  return <Badge tone="bad">{`${grouped(durability.dropped_total)} lost since the start`}</Badge>
}

const searched = 'Messages are searched letter by letter, payloads are not.'

type NoLinesProps = {
  isDurable: boolean
  isNarrowed: boolean
  listing: Listing<LogLine>
  reach: Reached | undefined
} & TextProps

type TextProps = { text: string; onText(text: string): void }

function NoLines({ isDurable, isNarrowed, listing, reach, ...text }: NoLinesProps) {
  if (!isDurable) return <NotKept />
  if (!listing.hasMore && !isNarrowed) {
    return <Empty title="No lines">Scripts write them with guildhall.log.write.</Empty>
  }
  if (!listing.hasMore) {
    return (
      <Empty title="No line matches">
        {searched} <LinesOfAccount {...text} />
      </Empty>
    )
  }
  return (
    <div className="state">
      <h2>No line among the newest {grouped(linesLookedThrough)} of each step</h2>
      <p>
        {searched} Looked back to <ExactTime at={reach?.unixMs} />. <LinesOfAccount {...text} />
      </p>
      <button type="button" onClick={listing.more} disabled={listing.isFetchingMore}>
        {listing.isFetchingMore ? 'Looking' : 'Look further back'}
      </button>
    </div>
  )
}

/** A line has the ids of accounts, where their names are shown and so may be looked for. */
function LinesOfAccount({ text, onText }: TextProps) {
  const asked = text.trim()
  const found = useRead(['accounts', 'called', asked], () => findAccounts(asked), {
    enabled: isAsked(asked),
  })
  const [account] = found.data ?? []
  if (account === undefined || account.id === asked) return null
  return (
    <button type="button" className="link" onClick={() => onText(account.id)}>
      Lines with the id of {account.username}
    </button>
  )
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
              <NamedText>{found.message}</NamedText>
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
