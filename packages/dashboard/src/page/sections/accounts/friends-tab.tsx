import { type AccountDetail, api, type Friend } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { useName } from '../../data/names.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { accountField } from '../../kit/form/account-field.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Card } from '../../kit/page.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

const words = {
  invited_sent: 'invited',
  invited_received: 'invited by them',
  friend: 'friend',
  blocked: 'blocked',
} as const
const tones = {
  invited_sent: 'accent',
  invited_received: 'accent',
  friend: 'ok',
  blocked: 'bad',
} as const

const columns: readonly Column<Friend>[] = [
  { key: 'who', head: 'Account', cell: ({ user_id }) => <UserLink id={user_id} /> },
  {
    key: 'state',
    head: 'Relation',
    width: 140,
    cell: ({ state }) => <Badge tone={tones[state]}>{words[state]}</Badge>,
  },
  {
    key: 'time',
    medium: true,
    head: 'Since',
    width: 120,
    cell: ({ updated_unix_ms }) => <Time at={updated_unix_ms} />,
  },
]

export function FriendsTab({ account }: { account: AccountDetail }) {
  const { id } = account
  const friends = useRead(['friends', id], (client) => client.friends.list({ params: { id } }))
  const mayChange = useMay(api.friends.add)
  const [adding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Friend>()
  const removal: Column<Friend> = {
    key: 'remove',
    head: '',
    width: 78,
    cell: (friend) => (
      <button type="button" className="tiny" onClick={() => setLeaving(friend)}>
        Remove
      </button>
    ),
  }
  return (
    <Card
      title="Relations"
      extra={
        mayChange && (
          <button type="button" className="tiny" onClick={() => setAdding(true)}>
            Add
          </button>
        )
      }
    >
      <DataTable
        label="Relations"
        columns={mayChange ? [...columns, removal] : columns}
        listing={wholeListing(friends, friends.data)}
        rowKey={({ user_id }) => user_id}
        empty={<None>No friends, invitations or blocks.</None>}
        inline={true}
      />
      {adding && <AddFriend id={id} onClose={() => setAdding(false)} />}
      {leaving && (
        <RemoveFriend account={account} friend={leaving} onClose={() => setLeaving(undefined)} />
      )}
    </Card>
  )
}

type RemoveProps = { account: AccountDetail; friend: Friend; onClose(): void }

function RemoveFriend({ account, friend, onClose }: RemoveProps) {
  const { id, username } = account
  const name = useName(friend.user_id)
  const change = useChange({
    send: (client, other: string, idempotencyKey) =>
      client.friends.remove({ params: { id, other }, idempotencyKey }),
    touches: ['friends'],
    done: `The relation of ${username} and ${name} is removed`,
  })
  return (
    <Confirm
      title={`Remove ${name} from the relations of ${username}`}
      action="Remove"
      danger={true}
      run={() => change.mutateAsync(friend.user_id)}
      onClose={onClose}
    >
      {friend.state === 'blocked'
        ? 'The block ends: they can invite each other again.'
        : 'Both lose it: to be friends again, one has to invite the other.'}
    </Confirm>
  )
}

const friendFields = {
  account: accountField({ label: 'Account', hint: 'Invites, or accepts their invitation' }),
}

function AddFriend({ id, onClose }: { id: string; onClose(): void }) {
  const change = useChange({
    send: (client, body: { user_id: string }, idempotencyKey) =>
      client.friends.add({ params: { id }, body, idempotencyKey }),
    touches: ['friends'],
    done: 'Done',
  })
  return (
    <FormDialog
      title="Add a friend"
      action="Add"
      fields={friendFields}
      submit={({ account }) => change.mutateAsync({ user_id: account.id })}
      onClose={onClose}
    />
  )
}
