import type { ConsoleClient } from '@guildhall/client/console'
import type { AccountRow } from '@guildhall/contract'
import { type InputHTMLAttributes, useId } from 'react'
import { findAccount } from '../../data/accounts.ts'
import { useRead } from '../../data/reads.ts'
import { useSettled } from '../../data/settled.ts'
import { Text } from '../text/text.tsx'

type AccountInputProps = InputHTMLAttributes<HTMLInputElement> & {
  value: string
  /** Says only that nobody is of this name. */
  isBrief?: boolean
}

const suggestionsMax = 8

/** Takes an id or a username, offers those that match, and says whose it is. */
export function AccountInput({ value, isBrief = false, ...attributes }: AccountInputProps) {
  const list = useId()
  const typed = value.trim()
  const filter = useSettled(typed)
  const { data, isPlaceholderData } = useRead(
    ['accounts', 'suggest', filter],
    (client) => suggested(client, filter),
    { enabled: filter !== '', keep: true },
  )
  const items = filter === '' ? [] : (data ?? [])
  const exact = items.find(({ id, username }) => id === typed || username === typed)
  const isUnknown = filter === typed && filter !== '' && data?.length === 0 && !isPlaceholderData
  return (
    <>
      <input
        {...attributes}
        value={value}
        list={list}
        autoComplete="off"
        spellCheck={false}
        placeholder="Username or id"
      />
      <datalist id={list}>
        {items.map(({ id, username, display_name }) => (
          <option key={id} value={username}>
            {display_name ?? id}
          </option>
        ))}
      </datalist>
      <span className="hint break" aria-live="polite">
        {exact && !isBrief && (
          <>
            <Text>{exact.username}</Text>, <code>{exact.id}</code>
          </>
        )}
        {isUnknown && 'No username begins like this, and no account has this id.'}
      </span>
    </>
  )
}

/** Those whose username begins like this, or the account of this id. */
async function suggested(client: ConsoleClient, typed: string): Promise<readonly AccountRow[]> {
  const query = { username_prefix: typed, limit: suggestionsMax }
  const { items } = await client.consoleAccounts.search({ query })
  if (items.length > 0) return items
  const account = await findAccount(typed)
  return account === undefined ? [] : [account]
}
