/** The nodes of a deployment, as what operators ask for is collected from them. */
export type OtherNodes = {
  /** The name of this node; null where it plays with itself. */
  readonly nodeId: string | null
  /** Every node, this one included, and for ten minutes those that are gone. */
  nodes(): KnownNode[]
  /** Answers other nodes. `question` was checked by nobody. */
  serve(about: string, answer: (question: unknown) => Promise<unknown>): void
  /** What every other node answers within a second, and the names of those that do not. */
  askAll(about: string, question: unknown): Promise<{ answers: NodeAnswer[]; missing: string[] }>
  /**
   * What the other node of a room answers, within a second unless `withinMs` says more; undefined
   * where there is none.
   */
  askOwner(
    roomId: number,
    about: string,
    question: unknown,
    withinMs?: number,
  ): Promise<NodeAnswer | 'silent' | undefined>
}

export type NodeAnswer = { node_id: string; value: unknown }

export type KnownNode = {
  node_id: string
  boot_id: string
  /** 0 on a node that plays with itself. */
  slot: number
  state: 'live' | 'draining' | 'gone'
  version: string
  /** When it was last seen to be there. */
  seen_at_unix_ms: number
  rooms: number
  connections: number
}
