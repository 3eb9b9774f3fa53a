/** What parties ask about accounts. */
export type People = {
  /** The usernames of those of the accounts that are active. */
  usernames(userIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Whether one of the two blocks the other. */
  areBlocked(one: string, other: string): Promise<boolean>
}

/** Nobody knows anybody: for gateways without accounts. */
export const noPeople: People = {
  usernames: async () => new Map(),
  areBlocked: async () => false,
}
