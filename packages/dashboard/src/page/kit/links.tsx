import { Link } from '@tanstack/react-router'
import { CopyButton } from './copy.tsx'
import { Text } from './text.tsx'

/** Whoever it is: accounts are shown on their page, and other names may lead nowhere. */
export function UserLink({ id }: { id: string }) {
  return (
    <span className="copyable">
      <Link to="/accounts/$id" params={{ id }} className="one-line" title={id}>
        <Text>{id}</Text>
      </Link>
      <CopyButton text={id} what="id" />
    </span>
  )
}
