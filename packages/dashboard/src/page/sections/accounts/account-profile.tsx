import type { AccountDetail } from '@guildhall/contract'
import { givenListing, type ReadWith } from '../../data/reads.ts'
import { Card, Facts } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Copyable } from '../../kit/text/copy.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'

type Identity = AccountDetail['identities'][number]

const identityColumns: readonly Column<Identity>[] = [
  { key: 'provider', head: 'Provider', width: 90, cell: ({ provider }) => provider },
  {
    key: 'id',
    head: 'External id',
    cell: ({ external_id }) => <Copyable>{external_id}</Copyable>,
  },
  {
    key: 'created',
    head: 'Linked',
    width: 120,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
]

type ProfileProps = { account: AccountDetail; read: ReadWith }

export function AccountProfile({ account, read }: ProfileProps) {
  const { id, username, display_name, metadata, identities } = account
  return (
    <div className="columns">
      <div className="stack">
        <Card title="Profile">
          <Facts
            rows={{
              Id: <Copyable>{id}</Copyable>,
              Username: <Text>{username}</Text>,
              'Display name': display_name === null ? <None /> : <Text>{display_name}</Text>,
              Created: <ExactTime at={account.created_at_unix_ms} />,
              Changed: <ExactTime at={account.updated_at_unix_ms} />,
            }}
          />
        </Card>
        <Card title="Credentials">
          <DataTable
            label="Credentials"
            columns={identityColumns}
            listing={givenListing(id, identities, read)}
            rowKey={({ provider, external_id }) => `${provider} ${external_id}`}
            empty={<None>No credential is linked: nobody can sign in.</None>}
            inline={true}
          />
        </Card>
      </div>
      <Card title="Metadata">
        {metadata === null ? <None /> : <JsonView value={metadata} label="Metadata" />}
      </Card>
    </div>
  )
}
