import type {
  Tournament,
  TournamentEntry,
  TournamentResult,
  TournamentState,
} from '@guildhall/contract'
import type { Database, Queries, Transaction } from '../../database/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Mutate, Mutation } from '../../kernel/mutation.ts'
import { mayMove } from './tournaments.states.ts'
import { type NewTournament, tournamentsStore } from './tournaments.store.ts'

export type TournamentsDeps = { db: Database; clock: Clock; mutate: Mutate<Transaction> }

export type Tournaments = ReturnType<typeof createTournaments>

/**
 * Tournaments as operators run them. Every change of state is a compare-and-set on the state that
 * was read, so of two racing changes one wins.
 */
export function createTournaments({ db, clock, mutate }: TournamentsDeps) {
  async function known(tx: Queries, id: string): Promise<Tournament> {
    const row = await tournamentsStore.byId(tx, id)
    if (row === undefined) throw unknownTournament()
    return row
  }

  /** Rows of a tournament, which is looked for only where there are none. */
  async function listOf<T>(id: string, rows: Promise<T[]>): Promise<{ items: T[]; total: number }> {
    const items = await rows
    if (items.length === 0) await known(db, id)
    return { items, total: items.length }
  }

  return {
    async list(): Promise<{ items: Tournament[]; total: number }> {
      const items = await tournamentsStore.list(db)
      return { items, total: items.length }
    },

    get: (id: string) => known(db, id),

    create(mutation: Mutation, draft: Omit<NewTournament, 'now_unix_ms'>): Promise<Tournament> {
      const row = { ...draft, now_unix_ms: clock.nowUnixMs() }
      return mutate(
        mutation,
        async (tx) => {
          const created = await tournamentsStore.insert(tx, row)
          if (created === undefined) throw refuse.conflict('a tournament of this id exists')
          const details = `leaderboard=${row.leaderboard_id}`
          return { answer: created, target: row.id, details }
        },
        { isolation: 'read committed' },
      )
    },

    /**
     * Takes a tournament to another state for an operator. The state is read before the
     * transaction, so that of requests which met the same state at most one wins.
     */
    async transition(mutation: Mutation, id: string, to: TournamentState): Promise<Tournament> {
      const { state: from } = await known(db, id)
      if (!mayMove('operator', from, to)) throw illegalTransition()
      return mutate(
        mutation,
        async (tx) => {
          const change = { id, from, to, now_unix_ms: clock.nowUnixMs() }
          const moved = await tournamentsStore.move(tx, change)
          if (moved === undefined) throw illegalTransition()
          return { answer: moved, target: id, details: `state=${to}` }
        },
        { isolation: 'read committed' },
      )
    },

    entries: (id: string): Promise<{ items: TournamentEntry[]; total: number }> =>
      listOf(id, tournamentsStore.entries(db, id)),

    results: (id: string): Promise<{ items: TournamentResult[]; total: number }> =>
      listOf(id, tournamentsStore.results(db, id)),
  }
}

export function unknownTournament() {
  return refuse.notFound('no such tournament')
}

function illegalTransition() {
  return refuse.conflict('the tournament cannot go to this state from its present one')
}
