import type { ConsoleClient } from '@guildhall/client/console'
import { purchaseSumsMax } from '@guildhall/contract'
import { useState } from 'react'
import { counted, grouped } from '../../../model/time.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Await, Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type PurchaseFilter = {
  user_id?: string
  product_id?: string
  from: number | undefined
  to: number | undefined
}

type Sum = Awaited<ReturnType<ConsoleClient['purchases']['sums']>>['products'][number]

type SumsProps = { filter: PurchaseFilter; onProduct(product: string): void }

/** How much was bought, of what the filter shows; counted only when it is asked for. */
export function Sums({ filter, onProduct }: SumsProps) {
  const [isOpen, setOpen] = useState(false)
  const sums = useRead(
    ['purchases', 'sums', filter],
    (client) => client.purchases.sums({ query: filter }),
    { enabled: isOpen, keep: true },
  )
  return (
    <details
      className="sums"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>Sums</summary>
      {isOpen && (
        <Await query={sums}>
          {({ purchases, users, complete, products, products_complete }) => (
            <>
              <p>
                {counted(purchases, 'purchase')} of {counted(users, 'user')}
                {!complete && `: the newest ${grouped(purchaseSumsMax.purchases)} are counted`}
                {!products_complete && `; the first ${grouped(products.length)} products are named`}
                .
              </p>
              <DataTable
                label="Sums by product and store"
                columns={columns}
                listing={wholeListing(sums, products)}
                rowKey={({ product_id, store }) => `${store} ${product_id}`}
                onOpen={({ product_id }) => onProduct(product_id)}
                empty={<Empty title="Nothing was bought" />}
                inline={true}
              />
            </>
          )}
        </Await>
      )}
    </details>
  )
}

const columns: readonly Column<Sum>[] = [
  { key: 'product', head: 'Product', cell: ({ product_id }) => <Text>{product_id}</Text> },
  { key: 'store', head: 'Store', width: 90, cell: ({ store }) => store, wide: true },
  {
    key: 'purchases',
    head: 'Purchases',
    width: 110,
    align: 'number',
    cell: ({ purchases }) => grouped(purchases),
    sort: (a, b) => a.purchases - b.purchases,
  },
  {
    key: 'users',
    head: 'Users',
    width: 90,
    align: 'number',
    medium: true,
    cell: ({ users }) => grouped(users),
    sort: (a, b) => a.users - b.users,
  },
  {
    key: 'newest',
    head: 'Newest',
    width: 110,
    medium: true,
    cell: ({ newest_at_unix_ms }) => <Time at={newest_at_unix_ms} />,
  },
]
