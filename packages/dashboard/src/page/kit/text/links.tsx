import { Link } from '@tanstack/react-router'
import { useAccountName } from '../../data/names.ts'
import { CopyButton } from './copy.tsx'
import { Text } from './text.tsx'

/** Ids of accounts begin alike and end at random: a narrow column would show what all share. */
function shortId(id: string): string {
  return /^user-[0-9a-f]{32}$/.test(id) ? `…${id.slice(-8)}` : id
}

/** Whoever it is, by name: accounts are shown on their page, and other users may lead nowhere. */
export function UserLink({ id }: { id: string }) {
  const name = useAccountName(id)
  const title = name?.display_name ? `${name.display_name}\n${id}` : id
  return (
    <span className="copyable">
      <Link to="/accounts/$id" params={{ id }} className="one-line" title={title}>
        <Text>{name?.username ?? shortId(id)}</Text>
      </Link>
      <CopyButton text={id} what="id" />
    </span>
  )
}
