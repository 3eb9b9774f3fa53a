import { api, type Purchase, purchaseStores } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { usePages, useRead } from '../../data/reads.ts'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import { exportOf } from '../../kit/export/export-run.ts'
import { accountField } from '../../kit/form/account-field.ts'
import { areaField, selectField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Section } from '../../kit/section.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput, FilterTime, timeOf } from '../../kit/table/filter.tsx'
import { FilterAccount } from '../../kit/table/filter-account.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'
import { Sums } from './sums.tsx'

const columns: readonly Column<Purchase>[] = [
  { key: 'id', head: 'Transaction', cell: ({ transaction_id }) => <Text>{transaction_id}</Text> },
  { key: 'product', head: 'Product', cell: ({ product_id }) => <Text>{product_id}</Text> },
  { key: 'user', head: 'User', cell: ({ user_id }) => <UserLink id={user_id} />, wide: true },
  { key: 'store', head: 'Store', width: 90, cell: ({ store }) => store, wide: true },
  {
    key: 'time',
    head: 'Validated',
    width: 120,
    cell: ({ validated_at_unix_ms }) => <Time at={validated_at_unix_ms} />,
  },
]

export function PurchasesPage() {
  const [user, setUser] = useQueryPart('user')
  const [product, setProduct] = useQueryPart('product')
  const [from, setFrom] = useQueryPart('from')
  const [to, setTo] = useQueryPart('to')
  const filter = {
    ...(user === '' ? {} : { user_id: user }),
    ...(product.trim() === '' ? {} : { product_id: product }),
    from: timeOf(from),
    to: timeOf(to),
  }
  const listing = usePages(
    ['purchases', 'list', filter],
    async (client, after?: string) => {
      const page = await client.purchases.search({ query: { ...filter, limit: 200, after } })
      return { items: page.items, next: page.next_after }
    },
    { follow },
  )
  return (
    <Section
      title="Purchases"
      label="Purchases"
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedPath('/purchases')}
      tools={
        <>
          <FilterAccount label="User" value={user} onValue={setUser} isMain={true} />
          <FilterInput label="Product, exactly" value={product} onValue={setProduct} />
          <FilterTime label="From" value={from} onValue={setFrom} />
          <FilterTime label="to" value={to} onValue={setTo} />
          <Sums filter={filter} onProduct={setProduct} />
        </>
      }
      pane={({ key, close }) => <PurchasePane id={key} onClose={close} />}
      empty={<Empty title="No purchases" />}
      actions={<ExportButton exported={exportOf(listing, exported)} />}
      add={{
        route: api.purchases.validate,
        label: 'Validate a receipt',
        form: (close) => <Validate user={user} onClose={close} />,
      }}
    />
  )
}

const exported = {
  file: 'purchases',
  noun: ['purchase', 'purchases'],
  columns: [
    'validated_at_unix_ms',
    'transaction_id',
    'user_id',
    'product_id',
    'store',
    'subscription_expiry_unix_ms',
    'receipt_sha256',
  ],
} as const

const keyOf = ({ transaction_id }: Purchase) => transaction_id
const follow = { key: keyOf }

function PurchasePane({ id, onClose }: { id: string; onClose(): void }) {
  const purchase = useRead(['purchases', 'one', id], (client) =>
    client.purchases.get({ params: { transaction_id: id } }),
  )
  return (
    <Pane title={<Text>{id}</Text>} label="Purchase" onClose={onClose}>
      <Await query={purchase}>
        {(found) => (
          <Facts
            rows={{
              Transaction: <Copyable>{found.transaction_id}</Copyable>,
              Product: <Text>{found.product_id}</Text>,
              User: <UserLink id={found.user_id} />,
              Store: found.store,
              Validated: <ExactTime at={found.validated_at_unix_ms} />,
              'Subscription until':
                found.subscription_expiry_unix_ms === undefined ? (
                  <None>no subscription</None>
                ) : (
                  <ExactTime at={found.subscription_expiry_unix_ms} />
                ),
              'SHA-256 of the receipt': <Copyable>{found.receipt_sha256}</Copyable>,
            }}
          />
        )}
      </Await>
    </Pane>
  )
}

type Receipt = { user_id: string; store: (typeof purchaseStores)[number]; receipt: string }

function Validate({ user, onClose }: { user: string; onClose(): void }) {
  const navigate = useNavigate()
  const fields = useMemo(
    () => ({
      account: accountField({ label: 'Account', initial: user }),
      store: selectField({ label: 'Store', choices: purchaseStores }),
      receipt: areaField({
        label: 'Receipt',
        hint:
          'JSON with transaction_id, product_id and, for subscriptions, ' +
          'subscription_expiry_unix_ms',
      }),
    }),
    [user],
  )
  const change = useChange({
    send: (client, body: Receipt, idempotencyKey) =>
      client.purchases.validate({ body, idempotencyKey }),
    touches: ['purchases', 'subscriptions'],
    done: ({ transaction_id }) => `Recorded ${transaction_id}`,
  })
  return (
    <FormDialog
      title="Validate a receipt"
      action="Validate"
      fields={fields}
      submit={async ({ account, ...receipt }) => {
        const body = { ...receipt, user_id: account.id }
        const { transaction_id } = await change.mutateAsync(body)
        void navigate({ to: '/purchases/$id', params: { id: transaction_id } })
      }}
      onClose={onClose}
    >
      <p className="muted">It is recorded as you say; no store is asked.</p>
    </FormDialog>
  )
}
