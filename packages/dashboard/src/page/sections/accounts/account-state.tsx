import type { AccountRow } from '@guildhall/contract'
import { Badge } from '../../kit/text/badge.tsx'

const tones = { active: 'ok', disabled: 'warn', tombstoned: 'bad' } as const
const words = { active: 'active', disabled: 'banned', tombstoned: 'deleted' } as const

export function AccountState({ state }: Pick<AccountRow, 'state'>) {
  return <Badge tone={tones[state]}>{words[state]}</Badge>
}
