/** One side of a relation: what it is to the account that the edge belongs to. */
export type EdgeState = 'invited_sent' | 'invited_received' | 'friend' | 'blocked'

/** Both sides of two accounts: the one that acts, and the other. */
export type Pair = { readonly actor: EdgeState | 'none'; readonly other: EdgeState | 'none' }

export type Move = 'add' | 'remove' | 'block'

const strangers: Pair = { actor: 'none', other: 'none' }
const invited: Pair = { actor: 'invited_sent', other: 'invited_received' }
const friends: Pair = { actor: 'friend', other: 'friend' }

/** What becomes of a pair, for every move; undefined is a refusal that changes nothing. */
export function step(pair: Pair, move: Move): Pair | undefined {
  switch (move) {
    case 'add':
      if (pair.actor === 'blocked' || pair.other === 'blocked') return undefined
      return pair.other === 'invited_sent' || pair.other === 'friend' ? friends : invited
    case 'remove':
      return strangers
    case 'block':
      // A block of the other side is not for the actor to lift in passing.
      return { actor: 'blocked', other: pair.other === 'blocked' ? 'blocked' : 'none' }
  }
}
