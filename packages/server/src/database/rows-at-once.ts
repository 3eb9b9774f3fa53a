/**
 * Rows that a long read takes before it lets others go on: about a millisecond's work, so that it
 * is no wait for anybody and the pauses between them cost nothing beside it.
 */
export const rowsAtOnce = 500
