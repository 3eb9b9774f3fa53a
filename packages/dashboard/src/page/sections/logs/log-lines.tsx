import type { LogLine } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { useMatchName } from '../../data/match-names.ts'
import type { Column } from '../../kit/table/columns.ts'
import { Badge, type Tone } from '../../kit/text/badge.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

export const levelTones: Readonly<Record<LogLine['level'], Tone>> = {
  trace: 'none',
  debug: 'none',
  info: 'accent',
  warn: 'warn',
  error: 'bad',
}

export const lineColumns: readonly Column<LogLine>[] = [
  {
    key: 'time',
    head: 'When',
    width: 110,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
  {
    key: 'level',
    head: 'Level',
    width: 86,
    cell: ({ level }) => <Badge tone={levelTones[level]}>{level}</Badge>,
  },
  { key: 'tag', head: 'Tag', width: 130, wide: true, cell: ({ tag }) => <Text>{tag}</Text> },
  { key: 'message', head: 'Message', cell: ({ message }) => <NamedText>{message}</NamedText> },
]

export const matchColumn: Column<LogLine> = {
  key: 'match',
  head: 'Match',
  width: 170,
  wide: true,
  cell: ({ match_id }) => (match_id === null ? <None /> : <MatchLink id={match_id} />),
}

/** Leads to the record, by what the match is called. */
export function MatchLink({ id }: { id: string }) {
  return (
    <Link to="/match-records/$id" params={{ id }} title={id}>
      <MatchName id={id} />
    </Link>
  )
}

/** Players may have given it, so it is shown as text that cannot turn what stands around it. */
export function MatchName({ id }: { id: string }) {
  return <Text>{useMatchName(id)}</Text>
}
