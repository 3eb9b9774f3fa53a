import { type AccountRow, api } from '@guildhall/contract'
import { Link, useNavigate } from '@tanstack/react-router'
import { ExportButton } from '../../kit/export/export-dialog.tsx'
import { exportOf } from '../../kit/export/export-run.ts'
import { Page } from '../../kit/page.tsx'
import { useAdding } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Bulk, BulkAction } from '../../kit/table/bulk.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { AccountFinding, pageOfAll, useFoundAccounts } from './account-finding.tsx'
import { CreateAccount } from './account-forms.tsx'
import { AccountState } from './account-state.tsx'

const columns: readonly Column<AccountRow>[] = [
  {
    key: 'username',
    head: 'Username',
    cell: ({ id, username }) => (
      <Link to="/accounts/$id" params={{ id }}>
        <Text>{username}</Text>
      </Link>
    ),
  },
  {
    key: 'name',
    head: 'Display name',
    wide: true,
    cell: ({ display_name }) => (display_name === null ? <None /> : <Text>{display_name}</Text>),
  },
  {
    key: 'id',
    head: 'Id',
    width: 330,
    wide: true,
    cell: ({ id }) => <Copyable what="id">{id}</Copyable>,
  },
  { key: 'state', head: 'State', width: 104, cell: AccountState },
  {
    key: 'created',
    head: 'Created',
    width: 130,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
  {
    key: 'updated',
    head: 'Changed',
    width: 130,
    wide: true,
    cell: ({ updated_at_unix_ms }) => <Time at={updated_at_unix_ms} />,
  },
]

export function AccountsPage() {
  const navigate = useNavigate()
  const { listing, isAll } = useFoundAccounts()
  const adding = useAdding({
    route: api.consoleAccounts.create,
    label: 'New account',
    form: (close) => <CreateAccount onClose={close} />,
  })
  return (
    <Page
      title="Accounts"
      actions={
        <>
          <ExportButton exported={isAll ? exportedAll : exportOf(listing, exported)} />
          {adding.button}
        </>
      }
    >
      <AccountFinding />
      <DataTable
        label="Accounts"
        columns={columns}
        listing={listing}
        rowKey={keyOf}
        onOpen={({ id }) => void navigate({ to: '/accounts/$id', params: { id } })}
        bulk={bulk}
        empty={
          <Empty title={isAll ? 'No accounts yet' : 'No account matches'}>
            {isAll
              ? 'Players make theirs when they first sign in.'
              : '“Find by” above has other ways to find one.'}
          </Empty>
        }
      />
      {adding.form}
    </Page>
  )
}

const keyOf = ({ id }: AccountRow) => id

const exported = {
  file: 'accounts',
  noun: ['account', 'accounts'],
  columns: ['id', 'username', 'display_name', 'state', 'created_at_unix_ms', 'updated_at_unix_ms'],
  keyOf,
} as const

const exportedAll = { ...exported, words: 'All accounts, by id.', read: pageOfAll }

const nameOf = ({ username }: AccountRow) => username

const bulkActions: readonly BulkAction<AccountRow>[] = [
  {
    label: 'Ban',
    words: 'Their sessions end at once, and they cannot sign in until they are unbanned.',
    run: (client, { id }, idempotencyKey) =>
      client.consoleAccounts.ban({ params: { id }, idempotencyKey }),
  },
  {
    label: 'Unban',
    words: 'They can sign in again.',
    run: (client, { id }, idempotencyKey) =>
      client.consoleAccounts.unban({ params: { id }, idempotencyKey }),
  },
  {
    label: 'Delete',
    words: 'Their credentials are unlinked for good. The records and the usernames stay.',
    danger: true,
    run: (client, { id }, idempotencyKey) =>
      client.consoleAccounts.delete({ params: { id }, idempotencyKey }),
  },
]

const bulk: Bulk<AccountRow> = {
  route: api.consoleAccounts.ban,
  noun: 'account',
  nameOf,
  touches: ['accounts'],
  actions: bulkActions,
}
