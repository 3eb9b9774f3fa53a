import type { walletApi } from '@guildhall/contract'
import type { ServerHandlers } from '../../kernel/http/exchange.ts'
import type { WalletService } from './wallet.service.ts'

export function walletHandlers(wallets: WalletService): ServerHandlers<typeof walletApi> {
  return {
    get: ({ params }) => wallets.get(params.id),
    ledger: ({ params, query }) => wallets.page(params.id, query),
    adjust: ({ mutation, params, body }) =>
      wallets.adjust(mutation, { ...body, user_id: params.id }),
  }
}
