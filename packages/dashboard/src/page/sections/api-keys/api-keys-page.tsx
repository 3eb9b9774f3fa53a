import { type ApiKey, api, scopes } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { useOpenedQuery } from '../../data/opened.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { checksField, optionalTime, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { Copyable } from '../../kit/text/copy.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { KeyPane } from './key-pane.tsx'
import { KeyStatus } from './key-status.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const columns: readonly Column<ApiKey>[] = [
  {
    key: 'name',
    head: 'Name',
    cell: ({ name }) => <Text>{name}</Text>,
    sort: (a, b) => a.name.localeCompare(b.name),
  },
  {
    key: 'status',
    head: 'Status',
    width: 100,
    cell: KeyStatus,
    sort: (a, b) => a.status.localeCompare(b.status),
  },
  { key: 'scopes', head: 'Scopes', wide: true, cell: ({ scopes }) => scopes.join(', ') },
  { key: 'id', head: 'Id', wide: true, cell: ({ id }) => <Copyable what="id">{id}</Copyable> },
  {
    key: 'used',
    head: 'Last used',
    width: 120,
    cell: ({ last_used_at }) => <Time at={last_used_at} />,
    sort: (a, b) => (a.last_used_at ?? 0) - (b.last_used_at ?? 0),
  },
  {
    key: 'created',
    medium: true,
    head: 'Created',
    width: 120,
    cell: ({ created_at }) => <Time at={created_at} />,
    sort: (a, b) => a.created_at - b.created_at,
  },
]

export function ApiKeysPage() {
  const [secret, setSecret] = useState<string>()
  const keys = useRead(['apiKeys', 'list'], (client) => client.apiKeys.list({}))
  return (
    <Section
      title="API keys"
      label="API keys"
      columns={columns}
      listing={wholeListing(keys, keys.data?.keys)}
      rowKey={(key) => key.id}
      opened={useOpenedQuery('key')}
      pane={({ row, close }) =>
        row && <KeyPane apiKey={row} onSecret={setSecret} onClose={close} />
      }
      empty={<Empty title="No API keys yet">Machines read the console with them.</Empty>}
      add={{
        route: api.apiKeys.create,
        label: 'New key',
        form: (close) => <CreateKey onClose={close} onSecret={setSecret} />,
      }}
    >
      {secret && <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />}
    </Section>
  )
}

const newKey = {
  name: textField({ label: 'Name', hint: 'What uses it' }),
  scopes: checksField({ label: 'Scopes', choices: scopes, hint: 'All are read-only' }),
  expires_at: optionalTime({ label: 'Ends', hint: 'Empty: it stays until it is revoked' }),
}

type NewKey = {
  name: string
  scopes: (typeof scopes)[number][]
  expires_at: number | undefined
}

function CreateKey({ onClose, onSecret }: { onClose(): void; onSecret(secret: string): void }) {
  const change = useChange({
    send: (client, body: NewKey, idempotencyKey) => client.apiKeys.create({ body, idempotencyKey }),
    touches: ['apiKeys'],
    done: ({ key }) => `Created ${key.name}`,
  })
  return (
    <FormDialog
      title="Create an API key"
      action="Create"
      fields={newKey}
      submit={async (body) => onSecret((await change.mutateAsync(body)).secret)}
      onClose={onClose}
    />
  )
}
