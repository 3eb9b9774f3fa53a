import type { walletScript } from '@guildhall/contract'
import { byScript, type ScriptPart } from '../../kernel/script.ts'
import type { WalletService } from './wallet.service.ts'

const defaultReason = 'script adjustment'

/** Wallets for the game's script. */
export function walletFunctions(wallets: WalletService): ScriptPart<typeof walletScript> {
  return {
    'wallet.get': async (_caller, { user_id }) => (await wallets.get(user_id)).balances,
    'wallet.adjust': (caller, { user_id, currency, delta, options }) => {
      const { reason = defaultReason, idempotency_key } = options
      return wallets.book(byScript(caller), { user_id, currency, delta, reason, idempotency_key })
    },
    'wallet.ledger': (_caller, { user_id, options }) => wallets.ledger(user_id, options),
  }
}
