/** Times of the simulated nodes, in milliseconds. */
export const leaseMs = 5000
export const commandTimeoutMs = 2000
export const offlineMs = 4000

/** Kinds of the game that the simulated clients play. */
export const tags = { say: 100, said: 101 } as const
