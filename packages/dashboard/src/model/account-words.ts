import type { AccountRow } from '@guildhall/contract'

type State = AccountRow['state']

/** What operators call the states of accounts. */
export const stateWords = { active: 'active', disabled: 'banned', tombstoned: 'deleted' } as const

type Named = { username: string; display_name: string | null; state: State }

/** What stands in the title of a name: whatever it does not say. */
export function titleOfName(id: string, name: Named | undefined): string {
  if (name === undefined) return id
  const state = name.state === 'active' ? null : `This account is ${stateWords[name.state]}`
  return [name.display_name || null, state, id].filter((line) => line !== null).join('\n')
}
