/** The bytes that wait in all lanes and seats, and the largest reliable lane of this minute. */
export type QueueTotals = { queuedBytes: number; highWaterBytes: number }

/** What holds bytes that are queued, and can be ended to give them back. */
export type QueueHolder = { readonly bytes: number; end(): void }
