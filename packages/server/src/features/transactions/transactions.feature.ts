import { defineFeature } from '../feature.ts'
import { transactionFunctions } from './transactions.script.ts'
import { createTransactions, type TransactionsDeps } from './transactions.service.ts'

/** Operations of several features that scripts have done together or not at all. */
export function transactionsFeature<Prepared, Stored extends { id: number }>(
  deps: TransactionsDeps<Prepared, Stored>,
) {
  const transactions = createTransactions(deps)
  return defineFeature({
    script: transactionFunctions(transactions),
    pruners: { transaction_keys: transactions.prune },
  })
}
