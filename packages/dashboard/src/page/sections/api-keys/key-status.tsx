import type { ApiKey } from '@guildhall/contract'
import { Badge } from '../../kit/text/badge.tsx'

const tones = { active: 'ok', expired: 'warn', revoked: 'bad' } as const

export function KeyStatus({ status }: Pick<ApiKey, 'status'>) {
  return <Badge tone={tones[status]}>{status}</Badge>
}
