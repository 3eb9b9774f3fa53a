import type { walletScript } from '@guildhall/contract'
import { byScript, type ScriptPart } from '../../kernel/play/script.ts'
import type { WalletService } from './wallet.service.ts'

/** All but what is a transaction of several operations. */
type OwnFunctions = Omit<ScriptPart<typeof walletScript>, 'wallet.transfer'>

/** Wallets for the game's script. */
export function walletFunctions(wallets: WalletService): OwnFunctions {
  return {
    'wallet.get': async (_caller, { user_id }) => (await wallets.get(user_id)).balances,
    'wallet.adjust': (caller, { options, ...adjustment }) =>
      wallets.book(byScript(caller), { ...adjustment, ...options }),
    'wallet.ledger': (_caller, { user_id, options }) => wallets.ledger(user_id, options),
  }
}
