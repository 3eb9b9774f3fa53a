import type { AccountRow } from '@guildhall/contract'
import { stateWords } from '../../../model/account-words.ts'
import { Badge } from '../../kit/text/badge.tsx'

const tones = { active: 'ok', disabled: 'warn', tombstoned: 'bad' } as const

export function AccountState({ state }: Pick<AccountRow, 'state'>) {
  return <Badge tone={tones[state]}>{stateWords[state]}</Badge>
}
