import type { Friend } from '@guildhall/contract'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import { rowsAtOnce } from '../../kernel/batching/rows-at-once.ts'
import { afterOthers, type Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Done, Mutate, Mutation } from '../../kernel/mutation.ts'
import { type Move, type Pair, step } from './friends.states.ts'
import { friendsStore, type PairKey } from './friends.store.ts'

export type FriendsDeps = {
  db: Database
  clock: Clock
  mutate: Mutate<Transaction>
  /** Whether an account has this id, in whatever state. */
  accountExists(tx: Queries, id: string): Promise<boolean>
}

export type Friends = ReturnType<typeof createFriends>

/** Relations between accounts: two directed edges, which always change together. */
export function createFriends({ db, clock, mutate, accountExists }: FriendsDeps) {
  const rows = { isolation: 'read committed' } as const

  /** The accounts are locked, and both are there. */
  async function move(tx: Transaction, pair: PairKey, move: Move): Promise<Done<Friend[]>> {
    const { user_id, other_id } = pair
    const existing = await friendsStore.lockAccounts(tx, pair)
    if (!existing.has(user_id)) throw unknownAccount()
    if (!existing.has(other_id)) throw refuse.notFound('there is no account other_id')
    const { after } = await take(tx, pair, { move, now_unix_ms: clock.nowUnixMs() })
    const details = `other=${other_id} state=${after.actor}`
    return { answer: await friendsOf(tx, user_id), target: `account ${user_id}`, details }
  }

  return {
    /** All relations of an account, however many; scripts ask for them while players wait. */
    async list(user_id: string): Promise<Friend[]> {
      const rows: Friend[] = []
      for (let after = ''; ; ) {
        const page = await friendsStore.page(db, { user_id, after, limit: rowsAtOnce })
        rows.push(...page)
        const last = page.at(-1)
        if (last === undefined || page.length < rowsAtOnce) break
        after = last.user_id
        await afterOthers()
      }
      if (rows.length === 0 && !(await accountExists(db, user_id))) throw unknownAccount()
      return rows
    },

    /** Invites, or accepts what the other side sent; answers with all relations of the actor. */
    async add(mutation: Mutation, pair: PairKey): Promise<Friend[]> {
      expectTwo(pair)
      return mutate(mutation, (tx) => move(tx, pair, 'add'), rows)
    },

    /** Makes the actor's edge a block; answers with all relations of the actor. */
    async block(mutation: Mutation, pair: PairKey): Promise<Friend[]> {
      expectTwo(pair)
      return mutate(mutation, (tx) => move(tx, pair, 'block'), rows)
    },

    /** Whether one of the two blocks the other. */
    async areBlocked(user_id: string, other_id: string): Promise<boolean> {
      const edges = await friendsStore.edgesOfPair(db, { user_id, other_id })
      return edges.some(({ state }) => state === 'blocked')
    },

    /** Ends the relation, and any block, on both sides; false when there was none. */
    async remove(mutation: Mutation, pair: PairKey): Promise<boolean> {
      expectTwo(pair)
      const { user_id, other_id } = pair
      return mutate(
        mutation,
        async (tx) => {
          await friendsStore.lockAccounts(tx, pair)
          const change = { move: 'remove', now_unix_ms: clock.nowUnixMs() } as const
          const { before } = await take(tx, pair, change)
          const removed = before.actor !== 'none' || before.other !== 'none'
          const details = `other=${other_id} removed=${removed}`
          return { answer: removed, target: `account ${user_id}`, details }
        },
        rows,
      )
    },
  }
}

/** The relations of one account by the id of the other. */
export function friendsOf(tx: Queries, id: string): Promise<Friend[]> {
  return friendsStore.list(tx, id)
}

/** Makes a move of the actor, `user_id`, on a pair whose accounts are locked. */
async function take(
  tx: Transaction,
  { user_id, other_id }: PairKey,
  { move, now_unix_ms }: { move: Move; now_unix_ms: number },
): Promise<{ before: Pair; after: Pair }> {
  const edges = await friendsStore.edgesOfPair(tx, { user_id, other_id })
  const stateOf = (id: string) => {
    const edge = edges.find((each) => each.user_id === id)
    return edge?.state ?? 'none'
  }
  const before: Pair = { actor: stateOf(user_id), other: stateOf(other_id) }
  const after = step(before, move)
  if (after === undefined) throw refuse.conflict('one of the two has blocked the other')
  const sides = [
    { user_id, other_id, state: after.actor },
    { user_id: other_id, other_id: user_id, state: after.other },
  ]
  const gone = sides.filter(({ state }) => state === 'none')
  await friendsStore.deleteEdges(
    tx,
    gone.map(({ state: _, ...key }) => key),
  )
  const kept = sides.flatMap(({ state, ...key }) => {
    return state === 'none' ? [] : [{ ...key, state, updated_unix_ms: now_unix_ms }]
  })
  await friendsStore.putEdges(tx, kept)
  return { before, after }
}

function expectTwo({ user_id, other_id }: PairKey): void {
  if (user_id === other_id) throw refuse.invalid('an account has no relation to itself')
}

function unknownAccount() {
  return refuse.notFound('there is no account user_id')
}
