import type { AuditEntry } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { namedParts } from '../../../model/text.ts'
import { useAccountName } from '../../data/names.ts'
import { CopyButton } from './copy.tsx'
import { Text } from './text.tsx'

/** Ids of accounts begin alike and end at random: a narrow column would show what all share. */
function shortId(id: string): string {
  return /^user-[0-9a-f]{32}$/.test(id) ? `…${id.slice(-8)}` : id
}

/** Whoever it is, by name: accounts lead to their page; a user of the game's own has none. */
export function UserLink({ id }: { id: string }) {
  return (
    <span className="copyable">
      <NameLink id={id} />
      <CopyButton text={id} what="id" />
    </span>
  )
}

function NameLink({ id }: { id: string }) {
  const name = useAccountName(id)
  const title = name?.display_name ? `${name.display_name}\n${id}` : id
  if (name === null) {
    return (
      <span className="one-line" title={`No account has this id: ${id}`}>
        <Text>{shortId(id)}</Text>
      </span>
    )
  }
  return (
    <Link to="/accounts/$id" params={{ id }} className="one-line" title={title}>
      <Text>{name?.username ?? shortId(id)}</Text>
    </Link>
  )
}

/** Words that may name accounts by their ids, as the audit trail does. */
export function NamedText({ children }: { children: string }) {
  const parts = namedParts(children)
  if (parts.every(({ kind }) => kind === 'text')) return <Text>{children}</Text>
  if (parts.length === 1) return <UserLink id={children} />
  // Within words nothing stands that a narrow column could not cut as it cuts words.
  return parts.map(({ kind, text }, index) =>
    kind === 'account' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: an id may stand in the words twice.
      <NameLink key={index} id={text} />
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no names.
      <Text key={index}>{text}</Text>
    ),
  )
}

/** Who did what stands in the trail: keys by the names that they were given. */
export function Actor({ actor, key_name }: AuditEntry) {
  return key_name === undefined ? <NamedText>{actor}</NamedText> : <Text>{key_name}</Text>
}
