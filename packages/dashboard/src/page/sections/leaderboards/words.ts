/** Which score is the best, by the sort of the board. */
export const bestWords = { asc: 'the lowest', desc: 'the highest' } as const
/** Which of a user's scores counts, by the operator of the board. */
export const countsWords = { best: 'the best', set: 'the newest', incr: 'the sum' } as const
