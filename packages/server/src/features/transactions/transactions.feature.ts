import { defineFeature } from '../feature.ts'
import { transactionFunctions } from './transactions.script.ts'
import { createTransactions, type TransactionsDeps } from './transactions.service.ts'

type TransactionsFeatureDeps<Prepared, Stored extends { id: number }> = Omit<
  TransactionsDeps<Prepared, Stored>,
  'config'
> & { config: { wallet: TransactionsDeps['config'] } }

/** Operations of several features that scripts have done together or not at all. */
export function transactionsFeature<Prepared, Stored extends { id: number }>(
  deps: TransactionsFeatureDeps<Prepared, Stored>,
) {
  const transactions = createTransactions({ ...deps, config: deps.config.wallet })
  return defineFeature({
    script: transactionFunctions(transactions),
    pruners: { transaction_keys: transactions.prune },
    crash: {
      transaction_keys: {
        not: 'held by repeating transactions under their keys during the load',
      },
    },
  })
}
