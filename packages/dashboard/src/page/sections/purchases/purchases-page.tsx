import { api, type Purchase, purchaseStores } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { keepQuery, usePathPart, useQueryPart } from '../../data/location.ts'
import { pace } from '../../data/pace.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { accountField } from '../../kit/form/account-field.ts'
import { areaField, selectField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Facts, NewButton, Page, Pane, Split } from '../../kit/page.tsx'
import { Await, Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'

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

/** The API has no further page: a user narrows the list. */
const limit = 200

export function PurchasesPage() {
  const id = usePathPart('id')
  const [user, setUser] = useQueryPart('user')
  const [isNew, setNew] = useQueryPart('new')
  const navigate = useNavigate()
  const mayValidate = useMay(api.purchases.validate)
  const query = { limit, ...(user === '' ? {} : { user_id: user }) }
  const bought = useRead(
    ['purchases', 'list', user],
    (client) => client.purchases.list({ query }),
    {
      keep: true,
      everyMs: pace.script,
    },
  )
  const list = (
    <>
      <div className="page-tools">
        <FilterInput label="User id, exactly" value={user} onValue={setUser} isMain={true} />
      </div>
      <DataTable
        label="Purchases"
        columns={columns}
        listing={wholeListing(bought, bought.data?.items)}
        rowKey={({ transaction_id }) => transaction_id}
        openKey={id}
        onOpen={({ transaction_id }) =>
          void navigate({ to: '/purchases/$id', params: { id: transaction_id }, search: keepQuery })
        }
        empty={<Empty title="No purchases" />}
        foot={newestWords(bought.data?.items.length ?? 0)}
      />
    </>
  )
  const close = () => void navigate({ to: '/purchases', search: keepQuery })
  return (
    <Page
      title="Purchases"
      actions={mayValidate && <NewButton onNew={() => setNew('yes')}>Validate a receipt</NewButton>}
    >
      <Split list={list} pane={id && <PurchasePane key={id} id={id} onClose={close} />} />
      {isNew && mayValidate && <Validate user={user} onClose={() => setNew('')} />}
    </Page>
  )
}

export function newestWords(count: number): string {
  return count < limit ? String(count) : `the newest ${limit}; a user id narrows them`
}

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
