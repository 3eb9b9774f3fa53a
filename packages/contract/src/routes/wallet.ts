import { z } from 'zod'
import { Adjustment, LedgerEntry } from '../shapes/wallet.ts'
import { limit, presentReference } from '../values/fields.ts'
import { before, int64ByName } from '../values/numbers.ts'
import { once } from '../values/once.ts'
import { defineApi } from './route.ts'

/** Balances by currency, never negative, and the newest 100 bookings, newest first. */
export const Wallet = once(() =>
  z.strictObject({
    balances: int64ByName,
    ledger: z.array(LedgerEntry()),
  }),
)

const walletPath = once(() => z.strictObject({ id: presentReference() }))

export const walletApi = defineApi({
  get: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/wallet',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'The wallet of an account',
    params: walletPath,
    ok: Wallet,
    errors: ['not_found'],
  },
  ledger: {
    method: 'GET',
    path: '/console/v1/accounts/{id}/ledger',
    access: 'operator',
    scope: 'accounts:read',
    summary: 'Every kept booking of an account, newest first, page by page',
    params: walletPath,
    query: () =>
      z.strictObject({
        before: before.meta({ description: '`next_before` of the page before' }),
        limit: limit({ default: 50, cap: 200 }),
      }),
    ok: () =>
      z.strictObject({
        items: z.array(LedgerEntry()),
        next_before: z.int().optional().meta({ description: 'Present when more bookings follow' }),
      }),
    errors: ['not_found'],
  },
  adjust: {
    method: 'POST',
    path: '/console/v1/accounts/{id}/wallet',
    access: 'admin',
    audit: 'accounts.wallet.adjust',
    summary: 'Credits or debits one currency; a debit beyond the balance is refused',
    params: walletPath,
    body: Adjustment,
    ok: Wallet,
    errors: ['not_found', 'conflict'],
  },
})
