import type { CallContext } from '../../kernel/play/calls.ts'
import type { OutgoingFrame } from '../frames/outgoing-frame.ts'

/**
 * An account as the matchmaker and parties name it: its user id. A guest is an account of its own,
 * named by its participant, that ends with its connection.
 */
export type AccountKey = string

/** What the matchmaker and parties know of the accounts that are connected. */
export type Accounts = {
  isOnline(account: AccountKey): boolean
  /** The participant of an account that has been connected longest. */
  contextOf(account: AccountKey): CallContext | undefined
  /**
   * Of these accounts, the one that has been connected longest without a gap; the first one when
   * none is connected.
   */
  longestConnected(userIds: readonly string[]): string
  /** Sends to all connections of an account, but that of a participant. */
  deliver(account: AccountKey, frame: OutgoingFrame, except?: number): void
}

const guestPrefix = 'guest:'

export function accountKey({ user_id, participant }: CallContext): AccountKey {
  return user_id ?? guestPrefix + participant
}

/** The participant of a guest; undefined for the key of an account. */
export function guestOf(account: AccountKey): number | undefined {
  return account.startsWith(guestPrefix) ? Number(account.slice(guestPrefix.length)) : undefined
}
