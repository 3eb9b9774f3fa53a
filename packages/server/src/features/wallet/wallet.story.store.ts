import { ofOneUser } from '../../database/reads/of-one-user.ts'
import { statement } from '../../database/statement.ts'
import { pick } from '../../database/tables/table.ts'
import { walletLedger } from '../../database/tables/wallet.ts'
import { numberOf, type Stories } from '../feature.ts'

const bookings = statement({
  name: 'wallet.bookings-of-user',
  text: `SELECT l.seq, l.currency, l.delta, l.balance_after, l.reason, l.time_unix_ms
    FROM wallet_ledger l WHERE ${ofOneUser('l.user_id', { 'l.seq': ':seq' })}`,
  params: { user_id: 'text', seq: 'integer', limit: 'integer' },
  row: pick(walletLedger, 'seq', 'currency', 'delta', 'balance_after', 'reason', 'time_unix_ms'),
})

/** Bookings of a user, by their numbers. */
export const walletStory: Stories['wallet'] = {
  async read(tx, { user_id, before, limit }) {
    const rows = await tx.all(bookings, { user_id, seq: numberOf(before), limit })
    return rows.map(({ seq, currency, delta, balance_after, reason, time_unix_ms }) => ({
      at_unix_ms: time_unix_ms,
      ref: String(seq),
      text: `${delta > 0n ? '+' : ''}${delta} ${currency}, ${balance_after} after it: ${reason}`,
    }))
  },
}
