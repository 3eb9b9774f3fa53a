import type { databaseApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { DatabaseExplorer } from './database.service.ts'

export function databaseHandlers(explorer: DatabaseExplorer): ServerHandlers<typeof databaseApi> {
  return {
    tables: ({ principal }) => explorer.tables(principal),
    describe: ({ principal, params }) => explorer.describe(principal, params),
    rows: ({ principal, body }) => explorer.rows(principal, body),
    row: ({ principal, body }) => explorer.row(principal, body),
  }
}
