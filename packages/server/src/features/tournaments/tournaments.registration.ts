import { type TournamentEntry, tournamentId } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { databaseNow } from '../../database/reads/stored-time.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import { unknownTournament } from './tournaments.service.ts'
import { takesEntrants } from './tournaments.states.ts'
import { type EntryKey, tournamentsStore } from './tournaments.store.ts'

export type RegistrationDeps = {
  db: Database
  clock: Clock
  /** The state of an account, which nothing changes before the transaction ends; or undefined. */
  accountState(tx: Transaction, id: string): Promise<string | undefined>
}

/** Registering for tournaments, which is for callers within the node: no route leads here. */
export function createRegistration({ db, clock, accountState }: RegistrationDeps) {
  async function enter(tx: Transaction, key: EntryKey): Promise<TournamentEntry> {
    const tournament = await tournamentsStore.held(tx, key.tournament_id)
    if (tournament === undefined) throw unknownTournament()
    const entry = await tournamentsStore.entry(tx, key)
    if (entry !== undefined) return entry
    if (!takesEntrants(tournament, await databaseNow(tx))) {
      throw refuse.conflict('the tournament takes no entrants now')
    }
    const account = await accountState(tx, key.user_id)
    if (account === undefined) throw unknownAccount()
    if (account !== 'active') throw refuse.conflict('the account is not active')
    const row = { ...key, registered_at: clock.nowUnixMs() }
    if (await tournamentsStore.addEntry(tx, row)) return row
    // Somebody else has registered the user since the first look.
    const other = await tournamentsStore.entry(tx, key)
    if (other === undefined) throw new Error('an entry is there and cannot be read')
    return other
  }

  return {
    /**
     * Registers a user. One who is registered gets the entry there is, whatever has become of the
     * tournament or the account meanwhile, so that a caller who lost the answer may ask again.
     *
     * @throws Failure `invalid_request` for an id of the wrong shape, `not_found` for an unknown
     * tournament or account, `conflict` when the tournament takes no entrants now or the account
     * is not active
     */
    async register(id: string, user_id: string): Promise<TournamentEntry> {
      if (!tournamentId.safeParse(id).success) {
        throw refuse.invalid('id must be 1..128 bytes without control characters')
      }
      // PostgreSQL takes no text with U+0000, and no account has one in its id.
      if (user_id.includes('\0')) throw unknownAccount()
      const key = { tournament_id: id, user_id }
      return db.transaction((tx) => enter(tx, key), { isolation: 'read committed' })
    },
  }
}

function unknownAccount() {
  return refuse.notFound('no account has this id')
}
