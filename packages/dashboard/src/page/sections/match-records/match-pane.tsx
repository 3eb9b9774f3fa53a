import { Link } from '@tanstack/react-router'
import { counted, duration, exactTime, grouped } from '../../../model/time.ts'
import { byPages, restful } from '../../data/pace.ts'
import type { Page } from '../../data/pages.ts'
import { type Listing, usePages } from '../../data/reads.ts'
import { useRestful } from '../../data/resting.ts'
import { Facts, Pane } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { ListHead } from '../../kit/table/list-head.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { AuthorJson } from '../logs/author-json.tsx'
import { MatchState } from './match-state.tsx'
import { type Entries, momentsOf } from './moments.ts'

/** One match: its record, and what happened in it in the order of time. */
export function MatchPane({ id, onClose }: { id: string; onClose(): void }) {
  const everyMs = useRestful(restful.match, (newest: Page<Entries, unknown>) => newest)
  const listing = usePages(
    ['matchRecords', 'one', id],
    async (client, after?: string) => {
      const query = { limit: 200, after }
      const entries = await client.matchRecords.entries({ params: { match_id: id }, query })
      return { items: [entries], next: entries.logs_next_after }
    },
    {
      everyMs(pages) {
        const [newest] = pages
        if (newest?.items[0]?.record.open === false) return false
        return byPages(everyMs(newest), pages)
      },
    },
  )
  const { rows, error, again } = listing
  const [newest] = rows
  return (
    <Pane title={<Text>{newest?.record.name ?? 'Match'}</Text>} label="Match" onClose={onClose}>
      <Await query={{ data: newest, error, refetch: again }}>
        {(found) => (
          <>
            <Record entries={found} />
            <AuthorJson text={found.record.result_json} label="Result" />
            <Timeline listing={listing} entries={withAllLogs(found, rows)} />
          </>
        )}
      </Await>
    </Pane>
  )
}

/** Each page of lines comes with all else that there is. */
function withAllLogs(newest: Entries, pages: readonly Entries[]): Entries {
  return { ...newest, logs: pages.flatMap(({ logs }) => logs) }
}

function Record({ entries: { record, counts } }: { entries: Entries }) {
  return (
    <Facts
      rows={{
        Id: <Copyable>{record.match_id}</Copyable>,
        State: <MatchState {...record} />,
        Name: record.name === null ? <None>unnamed</None> : <Text>{record.name}</Text>,
        Map: <Text>{record.map}</Text>,
        Mode: <Text>{record.mode}</Text>,
        'Joined in all': grouped(record.join_total),
        'Most at once': grouped(record.peak_participants),
        Room: <RecordRoom {...record} />,
        'Script revision': record.script_revision_id ?? <None>not bound to one</None>,
        'About it': `${counted(counts.logs, 'line')}, ${counted(counts.telemetry_slices, 'slice')}`,
      }}
    />
  )
}

/** The room is there as long as the match goes on. */
function RecordRoom({ room_id, node_id, open }: Entries['record']) {
  const words = `${room_id} on ${node_id}`
  if (!open) return words
  return (
    <Link to="/rooms/$id" params={{ id: String(room_id) }}>
      {words}
    </Link>
  )
}

type TimelineProps = { listing: Listing<Entries>; entries: Entries }

function Timeline({ listing, entries }: TimelineProps) {
  const { hasMore, more, isFetchingMore, error, readAtMs, again } = listing
  const moments = momentsOf(entries)
  return (
    <section className="stack-tight" aria-label="Timeline">
      <ListHead title="Timeline" read={{ readAtMs, refetch: again }} />
      {error !== null && <p className="small problem">The last reading failed.</p>}
      {hasMore && (
        <p className="row small muted">
          <span className="grow">The newest {grouped(entries.logs.length)} lines stand here.</span>
          <button type="button" className="tiny" onClick={more} disabled={isFetchingMore}>
            Older lines
          </button>
        </p>
      )}
      <ol className="timeline">
        {moments.map(({ key, at, tone, title, text }) => (
          <li key={key} data-tone={tone}>
            <span className="row">
              <span className="moment mono small muted" title={exactTime(at)}>
                +{duration(Math.max(0, at - entries.record.opened_at_unix_ms))}
              </span>
              <Badge tone={tone}>{title}</Badge>
            </span>
            {text !== '' && (
              <p className="break">
                <NamedText>{text}</NamedText>
              </p>
            )}
          </li>
        ))}
      </ol>
      <p className="small muted">
        Times since the opening, <ExactTime at={entries.record.opened_at_unix_ms} />.
      </p>
    </section>
  )
}
