import { Purchase } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import { expectSame, type Operation, operation, type Section, succeeded } from '../operation.ts'
import type { Random } from '../random.ts'
import type { Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string }

/** Validated receipts, some of them shown a second time. */
export function createPurchasesSection({ trail, random, mark }: Deps): Section {
  const recorded = new Map<string, string>()
  let rows: StoredPurchase[] = []

  function next(): Operation {
    const again = random.chance(0.1) ? random.pick([...recorded.keys()]) : undefined
    const user_id = random.pick(['ana', 'bo', '']) ?? ''
    return validate(again ?? mark('transaction'), user_id, again !== undefined)
  }

  function validate(transaction_id: string, user_id: string, isKnown: boolean): Operation {
    const receipt = JSON.stringify({ transaction_id, product_id: 'gems' })
    return operation<object>({
      request: {
        method: 'POST',
        path: '/console/v1/purchases',
        body: { user_id, store: 'store_a', receipt },
      },
      heard(answer) {
        if (isKnown) return succeeded(answer, 409) ? undefined : {}
        if (!succeeded(answer, 201)) return undefined
        expectSame(Purchase().parse(answer.body).transaction_id, transaction_id, 'the purchase')
        return {}
      },
      found() {
        const stored = rows.some((row) => row.transaction_id === transaction_id)
        return stored && !isKnown ? {} : undefined
      },
      apply() {
        recorded.set(transaction_id, user_id)
        const details = `store=store_a product=gems user=${user_id}`
        trail.expect({
          action: 'purchases.validate',
          target: `transaction ${transaction_id}`,
          details,
        })
      },
    })
  }

  return {
    weight: 2,
    next,
    async read(state: Queries) {
      rows = await state.all(purchaseRows, {})
    },
    check() {
      const stored = rows.map(({ transaction_id, user_id }) => [transaction_id, user_id])
      expectSame(stored.sort(), [...recorded].sort(), 'the purchases')
    },
  }
}

type StoredPurchase = { transaction_id: string; user_id: string }

const purchaseRows = statement({
  name: 'crash.purchases',
  text: 'SELECT transaction_id, user_id FROM purchases',
  row: { transaction_id: 'text', user_id: 'text' },
})
