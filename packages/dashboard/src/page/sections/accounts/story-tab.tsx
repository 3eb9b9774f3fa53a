import type { ConsoleClient } from '@guildhall/client/console'
import type { AccountDetail } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { grouped } from '../../../model/time.ts'
import { usePages, useRead, wholeListing } from '../../data/reads.ts'
import { Glyph, type GlyphName } from '../../kit/glyph.tsx'
import { Card, FactStrip } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { NamedText, NamedWords, UserLink } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'
import { AccountState } from './account-state.tsx'

type Timeline = Awaited<ReturnType<ConsoleClient['consoleAccounts']['timeline']>>
type Entry = Timeline['items'][number]
type Rank = Awaited<ReturnType<ConsoleClient['leaderboards']['ranks']>>['items'][number]

const kinds: Readonly<Record<Entry['kind'], readonly [words: string, glyph: GlyphName]>> = {
  sign_in: ['sign-in', 'door'],
  wallet: ['wallet', 'cart'],
  purchase: ['purchase', 'cart'],
  group: ['group', 'people'],
  friend: ['friend', 'person'],
  tournament: ['tournament', 'flag'],
  notice: ['notification', 'bell'],
  audit: ['operators', 'book'],
}

/** Where a thing itself is shown; what is not here is shown nowhere else. */
const places: Partial<Record<Entry['kind'], string>> = {
  purchase: '/purchases/$id',
  group: '/groups/$id',
  tournament: '/tournaments/$id',
}

const columns: readonly Column<Entry>[] = [
  {
    key: 'time',
    head: 'When',
    width: 112,
    cell: ({ at_unix_ms }) => <Time at={at_unix_ms} />,
  },
  {
    key: 'kind',
    head: 'Of',
    width: 130,
    medium: true,
    cell: ({ kind }) => {
      const [words, glyph] = kinds[kind]
      return (
        <span className="row">
          <Glyph name={glyph} /> {words}
        </span>
      )
    },
  },
  { key: 'text', head: 'What happened', cell: (entry) => <What {...entry} /> },
]

function What({ kind, text, ref: id }: Entry): ReactNode {
  // A group was named by whoever founded it, and an id there may be meant to read as somebody.
  const words = kind === 'group' ? <Text>{text}</Text> : <NamedWords>{text}</NamedWords>
  if (id === null) return words
  if (kind === 'friend') {
    return (
      <span className="row">
        {words} <UserLink id={id} />
      </span>
    )
  }
  const to = places[kind]
  if (to === undefined) {
    return (
      <span title={text}>
        <NamedText>{text}</NamedText>
      </span>
    )
  }
  return (
    <Link to={to} params={{ id }}>
      {words}
    </Link>
  )
}

const rankColumns: readonly Column<Rank>[] = [
  {
    key: 'board',
    head: 'Board',
    cell: ({ board }) => (
      <Link to="/leaderboards/$id" params={{ id: board }}>
        <Text>{board}</Text>
      </Link>
    ),
  },
  { key: 'rank', head: 'Rank', width: 66, align: 'number', cell: ({ rank }) => grouped(rank) },
  { key: 'score', head: 'Score', width: 148, align: 'number', cell: ({ score }) => grouped(score) },
  {
    key: 'time',
    head: 'Set',
    width: 110,
    medium: true,
    cell: ({ updated_at_unix_ms }) => <Time at={updated_at_unix_ms} />,
  },
]

/** What happened to a player and what was done about it, all in one list: where support begins. */
export function StoryTab({ account }: { account: AccountDetail }) {
  const { id, state, created_at_unix_ms } = account
  const listing = usePages(['accounts', 'timeline', id], async (client, after?: string) => {
    const query = { after, limit: 100 }
    const { items, next_after } = await client.consoleAccounts.timeline({ params: { id }, query })
    return { items, next: next_after }
  })
  return (
    <div className="stack">
      <FactStrip
        rows={{
          'Last seen': <LastSeen id={id} />,
          State: <AccountState state={state} />,
          Created: <ExactTime at={created_at_unix_ms} />,
        }}
      />
      <Ranks id={id} />
      <Card title="What happened">
        <DataTable
          label="What happened"
          columns={columns}
          listing={listing}
          rowKey={({ kind, ref, at_unix_ms }) => `${kind} ${ref} ${at_unix_ms}`}
          empty={<None>Nothing is kept of this account.</None>}
          inline={true}
        />
      </Card>
    </div>
  )
}

/** Connected now, or when the player was last given tokens. */
function LastSeen({ id }: { id: string }) {
  const sessions = useRead(['sessions', id, 'newest'], (client) =>
    client.consoleSessions.list({ params: { id }, query: { limit: 200 } }),
  )
  const seen = useRead(['sessions', id, 'last-seen'], (client) =>
    client.consoleSessions.lastSeen({ params: { id } }),
  )
  if (sessions.data?.items.some(({ connected }) => connected)) {
    return <Badge tone="ok">connected</Badge>
  }
  return <Await query={seen}>{(found) => <ExactTime at={found.seen_at_unix_ms} />}</Await>
}

function Ranks({ id }: { id: string }) {
  const ranks = useRead(['leaderboards', 'ranks', id], (client) =>
    client.leaderboards.ranks({ params: { id } }),
  )
  return (
    <Card title="Ranks">
      <DataTable
        label="Ranks"
        columns={rankColumns}
        listing={wholeListing(ranks, ranks.data?.items)}
        rowKey={({ board }) => board}
        empty={<None>No record on any board.</None>}
        inline={true}
      />
    </Card>
  )
}
