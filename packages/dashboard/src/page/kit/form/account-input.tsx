import type { ConsoleClient } from '@guildhall/client/console'
import type { AccountRow } from '@guildhall/contract'
import { type InputHTMLAttributes, useId } from 'react'
import { isAccountId } from '../../../model/text.ts'
import { isEmail } from '../../data/accounts.ts'
import { useRead } from '../../data/reads.ts'
import { useSettled } from '../../data/settled.ts'
import { Text } from '../text/text.tsx'

type AccountInputProps = InputHTMLAttributes<HTMLInputElement> & {
  value: string
  /** Says only that nobody is of this name. */
  isBrief?: boolean
}

const suggestionsMax = 8
/** So many letters of a display name are sought: more of them may be too long for the node. */
const nameMax = 60

/** Takes what an account is known by, offers those that match by any name, and says whose it is. */
export function AccountInput({ value, isBrief = false, ...attributes }: AccountInputProps) {
  const list = useId()
  const typed = value.trim()
  const filter = useSettled(typed)
  const { data, isPlaceholderData } = useRead(
    ['accounts', 'suggest', filter],
    async (client) =>
      (await suggested(client, filter)).map((row) => ({ ...row, hint: hintOf(filter, row) })),
    { enabled: filter !== '', keep: true },
  )
  const items = filter === '' ? [] : (data ?? [])
  const isRead = filter === typed && !isPlaceholderData
  const [exact, another] = items.filter(
    (row) => row.id === typed || row.username === typed || (isRead && isByEmail(typed, row)),
  )
  const isUnknown = isRead && filter !== '' && data?.length === 0
  return (
    <>
      <input
        {...attributes}
        value={value}
        list={list}
        autoComplete="off"
        spellCheck={false}
        placeholder="Username, id or e-mail"
      />
      <datalist id={list}>
        {items.map(({ id, username, hint }) => (
          <option key={id} value={username}>
            {hint}
          </option>
        ))}
      </datalist>
      <span className="hint break" aria-live="polite">
        {exact && another === undefined && !isBrief && (
          <>
            <Text>{exact.username}</Text>, <code>{exact.id}</code>
          </>
        )}
        {isUnknown && 'No name begins like this, and no account has this id or e-mail.'}
      </span>
    </>
  )
}

/** Whether it was not found by its username. */
function isByEmail(typed: string, { username }: AccountRow): boolean {
  return isEmail(typed) && !username.startsWith(typed)
}

/** Browsers offer only what has the typed text in it, and an e-mail is shown nowhere else. */
function hintOf(typed: string, row: AccountRow): string {
  return row.id === typed || isByEmail(typed, row) ? typed : (row.display_name ?? row.id)
}

/**
 * Those whose username begins like this; if there are none, one more request by what it may be. Of
 * an id or an e-mail it is always whose it is, whatever names others took.
 */
async function suggested(client: ConsoleClient, typed: string): Promise<readonly AccountRow[]> {
  const { list, search } = client.consoleAccounts
  const limit = suggestionsMax
  if (isAccountId(typed)) return (await list({ query: { id: typed, limit: 1 } })).items
  const { items } = await search({ query: { username_prefix: typed, limit } })
  if (isEmail(typed)) {
    const byEmail = await search({ query: { email: typed } })
    return [...items, ...byEmail.items.filter(({ id }) => items.every((row) => row.id !== id))]
  }
  if (items.length > 0) return items
  return (await search({ query: { display_name: typed.slice(0, nameMax), limit } })).items
}
