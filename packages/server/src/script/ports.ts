/** What the script host needs from the rest of the node; `node.ts` fills it. */

/**
 * What scripts can ask of the features, by names such as `tournaments.register`. Arguments come
 * from the script and are checked by the function, which refuses with a `Failure`.
 */
export type HostFunctions = Readonly<Record<string, (...args: readonly unknown[]) => unknown>>

/**
 * Where a script's `broadcast` and `send` go. Commands of one slice arrive together and in order;
 * `body` is only valid during the call unless it is copied or written at once.
 */
export type Delivery = {
  broadcast(command: {
    kind: number
    body: Uint8Array
    unreliable: boolean
    /** Excluded from the receivers; 0 excludes nobody. */
    sender: number
    except: readonly number[]
    /** Null reaches every session. */
    room_id: number | null
  }): void
  /** An unknown participant is no error. Many receivers of one body share one encoding. */
  send(command: {
    kind: number
    body: Uint8Array
    unreliable: boolean
    participants: readonly number[]
  }): void
  /** The connected participants of this node, for `guildhall.session_list`. */
  sessions(): {
    participant: number
    user_id: string | null
    username: string | null
    room_id: number | null
  }[]
}
