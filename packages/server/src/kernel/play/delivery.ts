import type { Session } from '@guildhall/contract'

/**
 * How envelopes reach participants: what scripts send, and what the gateway relays itself. Commands
 * of one slice of a script arrive together and in order.
 */
export type Delivery = {
  /** Sends to everybody of the scope but `sender` and `except`. `body` is copied. */
  broadcast(command: Broadcast): void
  /** Sends to participants; one that is unknown or gone is no error. `body` is copied. */
  send(command: Send): void
  /** The connected participants of this node. */
  sessions(): Promise<Session[]>
  /** Which of these accounts have a connection now, in the order given. */
  online(userIds: readonly string[]): Promise<string[]>
  /**
   * Sends to all connections of these accounts; null reaches the connections of every account,
   * guests left out. `body` is copied.
   */
  push(userIds: readonly string[] | null, kind: number, body: Uint8Array): void
  /** The account of a participant; null for a guest, and for one that is not connected. */
  accountOf(participant: number): string | null
}

/** The connected players as features reach them. */
export type LivePlayers = Pick<Delivery, 'push' | 'send' | 'accountOf'> & {
  /** Whether a session has a connection now; a seat that waits for one does not count. */
  isConnected(sessionId: string): boolean
}

export type Broadcast = {
  kind: number
  body: Uint8Array
  unreliable: boolean
  /** 0 excludes nobody. */
  sender: number
  except: readonly number[]
  /** Null reaches every session. */
  room_id: number | null
  /** Reaches those who are in the topic instead. */
  topic?: string | undefined
}

export type Send = {
  kind: number
  body: Uint8Array
  unreliable: boolean
  participants: readonly number[]
}
