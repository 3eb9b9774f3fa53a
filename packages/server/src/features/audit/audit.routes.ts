import type { auditApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { Audit } from './audit.service.ts'

export function auditHandlers(audit: Audit): ServerHandlers<typeof auditApi> {
  return { list: ({ query }) => audit.list(query) }
}
