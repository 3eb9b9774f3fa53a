import { oneOf } from '../statement.ts'
import { defineTable } from './table.ts'

/** Tokens of operators, each good until the boot that issued it ends. */
export const consoleTokens = defineTable('console_tokens', {
  columns: {
    digest: 'bytes',
    username: 'text',
    role: oneOf('admin', 'viewer'),
    expires_at_unix_ms: 'time',
    boot_id: 'text',
  },
  key: ['digest'],
  visibility: 'hidden',
})
