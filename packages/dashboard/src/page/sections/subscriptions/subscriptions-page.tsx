import type { ConsoleClient } from '@guildhall/client/console'
import { useNavigate } from '@tanstack/react-router'
import { newestOnly } from '../../../model/time.ts'
import { useQueryPart } from '../../data/location.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Page } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterAccount } from '../../kit/table/filter-account.tsx'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type Row = Awaited<ReturnType<ConsoleClient['subscriptions']['list']>>['items'][number]

const columns: readonly Column<Row>[] = [
  { key: 'user', head: 'User', cell: ({ user_id }) => <UserLink id={user_id} /> },
  { key: 'product', head: 'Product', cell: ({ product_id }) => <Text>{product_id}</Text> },
  {
    key: 'status',
    medium: true,
    head: 'Status',
    width: 100,
    cell: ({ status }) => <Badge tone={status === 'active' ? 'ok' : 'none'}>{status}</Badge>,
    sort: (a, b) => a.status.localeCompare(b.status),
  },
  {
    key: 'expiry',
    head: 'Until',
    width: 120,
    cell: ({ expiry_unix_ms }) => <Time at={expiry_unix_ms} />,
    sort: (a, b) => a.expiry_unix_ms - b.expiry_unix_ms,
  },
  { key: 'store', head: 'Store', width: 90, cell: ({ store }) => store, wide: true },
  {
    key: 'id',
    head: 'Transaction',
    wide: true,
    cell: ({ transaction_id }) => <Text>{transaction_id}</Text>,
  },
]

/** So many the node lists at most. */
const shownMax = 200

export function SubscriptionsPage() {
  const [user, setUser] = useQueryPart('user')
  const navigate = useNavigate()
  const query = { limit: shownMax, ...(user === '' ? {} : { user_id: user }) }
  const all = useRead(['subscriptions', user], (client) => client.subscriptions.list({ query }), {
    keep: true,
  })
  return (
    <Page title="Subscriptions">
      <div className="page-tools">
        <FilterAccount label="User" value={user} onValue={setUser} isMain={true} />
      </div>
      <DataTable
        label="Subscriptions"
        columns={columns}
        listing={wholeListing(all, all.data?.items)}
        rowKey={({ transaction_id }) => transaction_id}
        onOpen={({ transaction_id }) =>
          void navigate({ to: '/purchases/$id', params: { id: transaction_id } })
        }
        foot={newestOnly(all.data?.items, shownMax)}
        empty={<Empty title="No subscriptions">Purchases with an expiry appear here.</Empty>}
      />
    </Page>
  )
}
