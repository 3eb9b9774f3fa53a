import type { JsonObject } from '@guildhall/contract'

/** What one transaction of a script may hold, and what each operation answers. */

export type WalletOperation = {
  op: 'wallet'
  user_id: string
  currency: string
  delta: bigint
  reason?: string | undefined
}
type Address = { owner: string | null; collection: string; key: string }
export type ObjectOperation =
  | (Address & {
      op: 'write'
      value: JsonObject
      version?: string | undefined
      read_permission?: number | undefined
      write_permission?: number | undefined
    })
  | (Address & { op: 'delete'; version?: string | undefined })
export type NotifyOperation = {
  op: 'notify'
  user_id?: string | null | undefined
  subject: string
  content?: JsonObject | undefined
  code?: number | undefined
  push?: boolean | undefined
}
/** One operation of a transaction, in the form of its single call. */
export type Operation = WalletOperation | ObjectOperation | NotifyOperation

export type Booked = { balance: bigint; seq: number }
export type Result = Booked | { version: string } | { removed: boolean } | { id: number }
