import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { newestOnly } from '../../../model/time.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { NamedText, NamedWords, UserLink } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

/** What belongs to an account, as its export has it. */
function useRelated(id: string) {
  return useRead(['accounts', 'related', id], (client) =>
    client.consoleAccounts.export({ params: { id } }),
  )
}

type Related = NonNullable<ReturnType<typeof useRelated>['data']>['related']
type GroupOf = NonNullable<Related['groups']>[number]
type ObjectOf = NonNullable<Related['storage']>[number]

const groupColumns: readonly Column<GroupOf>[] = [
  {
    key: 'name',
    head: 'Group',
    cell: ({ id, name }) => (
      <Link to="/groups/$id" params={{ id: String(id) }}>
        <Text>{name}</Text>
      </Link>
    ),
    sort: (a, b) => a.name.localeCompare(b.name),
  },
  { key: 'role', head: 'Role', width: 120, cell: ({ role }) => <Badge>{role}</Badge> },
  {
    key: 'joined',
    medium: true,
    head: 'Joined',
    width: 130,
    cell: ({ joined_at_unix_ms }) => <Time at={joined_at_unix_ms} />,
  },
]

export function GroupsTab({ id }: { id: string }) {
  const all = useRelated(id)
  return (
    <Card title="Groups">
      <DataTable
        label="Groups"
        columns={groupColumns}
        listing={wholeListing(all, all.data?.related.groups ?? undefined)}
        rowKey={(group) => String(group.id)}
        empty={<None>Member of no group.</None>}
        inline={true}
      />
    </Card>
  )
}

export function StorageTab({ id }: { id: string }) {
  const all = useRelated(id)
  return (
    <Card title="Objects">
      <DataTable
        label="Objects"
        columns={objectColumns(id)}
        listing={wholeListing(all, all.data?.related.storage ?? undefined)}
        rowKey={({ collection, key }) => `${collection} ${key}`}
        empty={<None>Owns no object.</None>}
        inline={true}
      />
    </Card>
  )
}

function objectColumns(owner: string): readonly Column<ObjectOf>[] {
  return [
    { key: 'collection', head: 'Collection', cell: ({ collection }) => <Text>{collection}</Text> },
    {
      key: 'key',
      head: 'Key',
      cell: ({ collection, key }) => (
        <Link to="/storage" search={{ collection, key, owner }}>
          <NamedWords>{key}</NamedWords>
        </Link>
      ),
    },
    {
      key: 'version',
      medium: true,
      head: 'Version',
      width: 190,
      cell: ({ version }) => <Copyable>{version}</Copyable>,
    },
  ]
}

export function NotificationsTab({ id }: { id: string }) {
  const query = { user_id: id, limit: 200 }
  const own = useRead(['notifications', id], (client) => client.notifications.list({ query }))
  return (
    <Card title="Notifications" extra={<span className="muted small">the newest 200</span>}>
      <DataTable
        label="Notifications"
        columns={notificationColumns}
        listing={wholeListing(own, own.data?.items)}
        rowKey={(notification) => String(notification.id)}
        empty={<None>None for this account.</None>}
        inline={true}
      />
    </Card>
  )
}

type Note = {
  id: number
  subject: string
  user_id: string | null
  code: number
  created_at_unix_ms: number
}

const notificationColumns: readonly Column<Note>[] = [
  { key: 'subject', head: 'Subject', cell: ({ subject }) => <NamedText>{subject}</NamedText> },
  {
    key: 'to',
    head: 'To',
    width: 110,
    cell: ({ user_id }) =>
      user_id === null ? <Badge>everybody</Badge> : <UserLink id={user_id} />,
  },
  { key: 'code', medium: true, head: 'Code', width: 80, align: 'number', cell: ({ code }) => code },
  {
    key: 'time',
    head: 'Sent',
    width: 100,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
]

/** The API has no list of what one sender wrote: these are channels that are named after them. */
export function ChatTab({ id }: { id: string }) {
  const query = { filter: id, limit: 500 }
  const channels = useRead(['chat', 'of', id], (client) => client.chat.list({ query }))
  return (
    <Card title="Channels named after this account">
      <DataTable
        label="Channels"
        columns={channelColumns}
        listing={wholeListing(channels, channels.data?.items)}
        rowKey={({ channel }) => channel}
        empty={<None>No channel has this id in its name.</None>}
        inline={true}
      />
    </Card>
  )
}

type Channel = {
  channel: string
  channel_type: string
  messages: number
  last_activity_unix_ms: number
}

const channelColumns: readonly Column<Channel>[] = [
  {
    key: 'channel',
    head: 'Channel',
    cell: ({ channel }) => (
      <Link to="/chat/$channel" params={{ channel }}>
        <NamedWords>{channel}</NamedWords>
      </Link>
    ),
  },
  { key: 'messages', head: 'Messages', width: 110, align: 'number', cell: (it) => it.messages },
  {
    key: 'time',
    head: 'Last message',
    width: 120,
    cell: ({ last_activity_unix_ms }) => <Time at={last_activity_unix_ms} />,
  },
]

/** So many the node lists at most. */
const boughtMax = 200

export function PurchasesTab({ id }: { id: string }) {
  const query = { user_id: id, limit: boughtMax }
  const own = useRead(['purchases', 'of', id], (client) => client.purchases.list({ query }))
  return (
    <Card title="Purchases" extra={<AllOf to="/purchases" id={id} />}>
      <DataTable
        label="Purchases"
        columns={purchaseColumns}
        listing={wholeListing(own, own.data?.items)}
        rowKey={({ transaction_id }) => transaction_id}
        empty={<None>Nothing bought.</None>}
        foot={newestOnly(own.data?.items, boughtMax)}
        inline={true}
      />
    </Card>
  )
}

function AllOf({ to, id }: { to: string; id: string }): ReactNode {
  return (
    <Link to={to} search={{ user: id }}>
      all
    </Link>
  )
}

type Bought = {
  transaction_id: string
  product_id: string
  store: string
  validated_at_unix_ms: number
}

const purchaseColumns: readonly Column<Bought>[] = [
  { key: 'product', head: 'Product', cell: ({ product_id }) => <Text>{product_id}</Text> },
  { key: 'id', head: 'Transaction', cell: (it) => <Copyable>{it.transaction_id}</Copyable> },
  { key: 'store', head: 'Store', width: 90, cell: ({ store }) => store },
  {
    key: 'time',
    medium: true,
    head: 'Validated',
    width: 120,
    cell: ({ validated_at_unix_ms }) => <Time at={validated_at_unix_ms} />,
  },
]
