import type { Broadcast, Send } from '../../kernel/play/delivery.ts'

/** The other nodes, as far as what reaches participants concerns them. */
export type Others = {
  /** Sends to participants that are not here. */
  send(command: Send): void
  /** Sends to everybody, or to a topic, on every other node. */
  broadcast(command: Broadcast): void
  push(userIds: readonly string[] | null, kind: number, body: Uint8Array): void
  /** Puts a participant that is not here into a topic, or takes it out. */
  topic(topic: string, participant: number, isJoin: boolean): void
  /** Which of these accounts have a connection on another node. */
  online(userIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** The others of a node that plays with itself: nobody. */
export const nobodyElse: Others = {
  send() {},
  broadcast() {},
  push() {},
  topic() {},
  online: async () => new Set(),
}
