import type { transactScript, walletScript } from '@guildhall/contract'
import { byScript, type ScriptPart } from '../../kernel/play/script.ts'
import type { Transactions } from './transactions.service.ts'

type Transfers = Pick<ScriptPart<typeof walletScript>, 'wallet.transfer'>

/** Operations that the game's script has done together or not at all. */
export function transactionFunctions({
  transact,
  transfer,
}: Transactions): ScriptPart<typeof transactScript> & Transfers {
  return {
    transact: (caller, { ops, options }) => transact(byScript(caller), ops, options),
    'wallet.transfer': (caller, { options, ...request }) =>
      transfer(byScript(caller), { ...request, ...options }),
  }
}
