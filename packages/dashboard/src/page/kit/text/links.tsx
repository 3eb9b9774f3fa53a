import type { AuditEntry } from '@guildhall/contract'
import { Link } from '@tanstack/react-router'
import { type ComponentType, Fragment, useEffect, useRef, useState } from 'react'
import { titleOfName } from '../../../model/account-words.ts'
import { isAccountId, type NamedPart, namedParts } from '../../../model/text.ts'
import { type AccountName, useAccountName } from '../../data/names.ts'
import { CopyButton } from './copy.tsx'
import { Text } from './text.tsx'

/** Ids of accounts begin alike and end at random: a narrow column would show what all share. */
function shortId(id: string): string {
  return isAccountId(id) ? `…${id.slice(-8)}` : id
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

/** The name alone, within words or where something else copies the id. */
function NameLink({ id }: { id: string }) {
  const { name, title, state } = useNaming(id)
  if (state === 'none') return <Name id={id} />
  return (
    <Link
      to="/accounts/$id"
      params={{ id }}
      className="one-line"
      title={title}
      data-account={state}
    >
      <Text>{name}</Text>
    </Link>
  )
}

/** The name where a link would lead away from what it stands in. */
function Name({ id }: { id: string }) {
  const { name, title, state } = useNaming(id)
  return (
    <span className="one-line" title={title} data-account={state}>
      <Text>{name}</Text>
    </span>
  )
}

type Naming = { name: string; title: string; state: AccountName['state'] | 'none' | undefined }

/** The state is undefined until it is read. */
function useNaming(id: string): Naming {
  const name = useAccountName(id)
  if (name === null) {
    return { name: shortId(id), title: `No account has this id: ${id}`, state: 'none' }
  }
  const title = titleOfName(id, name)
  return { name: name?.username ?? shortId(id), title, state: name?.state }
}

/** Words that may name accounts by their ids, as the audit trail does. */
export function NamedText({ children }: { children: string }) {
  return isAccountId(children) ? <UserLink id={children} /> : <LinkedText>{children}</LinkedText>
}

/** As `NamedText`, where something else copies an id that stands alone. */
export function LinkedText({ children }: { children: string }) {
  const parts = namedParts(children)
  // Within words nothing stands that a narrow column could not cut as it cuts words.
  if (parts.filter(isAccount).length < 2) return <Parts parts={parts} account={NameLink} />
  return <PartsInSight parts={parts} />
}

/** Texts may be full of ids, and JSON of such texts: they are named once they are in sight. */
function PartsInSight({ parts }: { parts: readonly NamedPart[] }) {
  const [isSeen, setSeen] = useState(false)
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      setSeen(true)
    })
    if (place.current !== null) observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return (
    <span ref={place}>
      <Parts parts={parts} account={isSeen ? NameLink : ShortId} />
    </span>
  )
}

function ShortId({ id }: { id: string }) {
  return <Text>{shortId(id)}</Text>
}

const isAccount = ({ kind }: NamedPart) => kind === 'account'

/** As `NamedText`, within what leads somewhere as a whole: a row, a link, an option. */
export function NamedWords({ children }: { children: string }) {
  const parts = namedParts(children)
  if (!parts.some(isAccount)) return <Text>{children}</Text>
  return (
    <span className="one-line">
      <Parts parts={parts} account={Name} />
    </span>
  )
}

type PartsProps = { parts: readonly NamedPart[]; account: ComponentType<{ id: string }> }

function Parts({ parts, account: Account }: PartsProps) {
  return parts.map(({ kind, text }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: an id may stand in the words twice.
    <Fragment key={index}>
      {kind === 'account' ? <Account id={text} /> : <Text>{text}</Text>}
    </Fragment>
  ))
}

/** Who did what stands in the trail: keys by the names that they were given. */
export function Actor({ actor, key_name }: AuditEntry) {
  return key_name === undefined ? <NamedText>{actor}</NamedText> : <Text>{key_name}</Text>
}
