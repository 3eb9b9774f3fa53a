import { defineFeature, mount } from '../feature.ts'
import { walletCheck } from './wallet.checks.store.ts'
import { createWalletPruners } from './wallet.jobs.ts'
import { walletHandlers } from './wallet.routes.ts'
import { walletFunctions } from './wallet.script.ts'
import { balancesOf, createWallets, type WalletDeps } from './wallet.service.ts'
import { walletStory } from './wallet.story.store.ts'

type WalletFeatureDeps = Omit<WalletDeps, 'config' | 'accountExists'> & {
  config: { wallet: WalletConfig }
  accounts: { exists: WalletDeps['accountExists'] }
}

type WalletConfig = { ledger_retention: number; idempotency_retention_days: number }

/** Balances and their ledger. */
export function walletFeature({ accounts, ...given }: WalletFeatureDeps) {
  const deps = { ...given, config: given.config.wallet, accountExists: accounts.exists }
  const wallets = createWallets(deps)
  const pruners = createWalletPruners(deps)
  return defineFeature(
    {
      routes: mount({ wallet: walletHandlers(wallets) }),
      script: walletFunctions(wallets),
      pruners: { wallet_keys: pruners.keys },
      surplus: { wallet_ledger: pruners.ledger },
      related: { wallet: { read: balancesOf } },
      checks: [walletCheck],
      stories: { wallet: walletStory },
      crash: {
        wallet_balances: 'wallets',
        wallet_ledger: 'wallets',
        wallet_carried: {
          not: 'of entries beyond the retention only; the doctor compares it then',
        },
        wallet_keys: { not: 'the load adjusts under no keys; transactions do' },
      },
    },
    { bookIn: wallets.bookIn },
  )
}
