/**
 * Rows of a long list that are read or written before others get their turn: about a millisecond's
 * work, so that it is no wait for anybody and the pauses between them cost nothing beside it.
 */
export const rowsAtOnce = 500
