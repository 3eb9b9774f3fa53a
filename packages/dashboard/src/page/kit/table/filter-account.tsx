import { useEffect, useId, useState } from 'react'
import { findAccounts } from '../../data/accounts.ts'
import { useAccountName } from '../../data/names.ts'
import { useRead } from '../../data/reads.ts'
import { useSettled } from '../../data/settled.ts'
import { AccountInput } from '../form/account-input.tsx'

type FilterAccountProps = {
  label: string
  /** An id; whoever it is of is shown by name. */
  value: string
  onValue(id: string): void
  isMain?: boolean
}

/** Narrows a list to one user, found as in every form; an id that is nobody's is taken too. */
export function FilterAccount({ label, value, onValue, isMain }: FilterAccountProps) {
  const input = useId()
  const name = useAccountName(value)
  const [typed, setTyped] = useState<string>()
  const settled = useSettled(typed?.trim() ?? '')
  const found = useRead(
    ['accounts', 'exactly', settled],
    async () => (await findAccounts(settled))[0]?.id ?? settled,
    { enabled: settled !== '' },
  )
  const id = settled === '' ? '' : found.data
  const isApplied = typed?.trim() === settled && id === value
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed changes the list.
  useEffect(() => {
    if (typed?.trim() === settled && id !== undefined && id !== value) onValue(id)
  }, [typed, settled, id])
  return (
    <div className="filter">
      <label htmlFor={input}>{label}</label>
      <AccountInput
        id={input}
        isBrief={true}
        type="search"
        value={typed ?? name?.username ?? value}
        data-main-filter={isMain ? '' : undefined}
        onChange={({ target }) => setTyped(target.value)}
        // What was typed last may still be on its way to the list.
        onBlur={() => isApplied && setTyped(undefined)}
      />
    </div>
  )
}
