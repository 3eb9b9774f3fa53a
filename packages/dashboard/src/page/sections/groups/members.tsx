import { api, type GroupDetail } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { useName } from '../../data/names.ts'
import { useMay } from '../../data/permissions.ts'
import { givenListing, type ReadWith } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { ErrorNote } from '../../kit/error-state.tsx'
import { accountField } from '../../kit/form/account-field.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type Member = GroupDetail['members'][number]

const tones = { member: 'none', admin: 'accent', superadmin: 'warn' } as const
const rungs = ['member', 'admin', 'superadmin']

const columns: readonly Column<Member>[] = [
  { key: 'who', head: 'Member', width: 120, cell: ({ user_id }) => <UserLink id={user_id} /> },
  {
    key: 'role',
    head: 'Role',
    width: 108,
    cell: ({ role }) => <Badge tone={tones[role]}>{role}</Badge>,
    sort: (a, b) => rungs.indexOf(a.role) - rungs.indexOf(b.role),
  },
  {
    key: 'joined',
    head: 'Joined',
    width: 90,
    wide: true,
    cell: ({ joined_at_unix_ms }) => <Time at={joined_at_unix_ms} />,
    sort: (a, b) => a.joined_at_unix_ms - b.joined_at_unix_ms,
  },
]

type Step = { user_id: string; step: 'promote' | 'demote' }
const done = { promote: 'Promoted', demote: 'Demoted' } as const

type MembersProps = { group: GroupDetail; read: ReadWith }

export function Members({ group, read }: MembersProps) {
  const { id, members } = group
  const [adding, setAdding] = useState(false)
  const [kicked, setKicked] = useState<string>()
  const mayChange = useMay(api.groups.promote)
  const move = useChange({
    send: (client, { user_id, step }: Step, idempotencyKey) =>
      client.groups[step]({ params: { id, user_id }, idempotencyKey }),
    touches: ['groups'],
    done: (_, { step }) => done[step],
  })
  const ladder: Column<Member> = {
    key: 'steps',
    head: '',
    width: 136,
    cell: ({ user_id, role }) => (
      <span className="row tight">
        <StepButton
          label="Up"
          off={role === 'superadmin'}
          run={() => move.mutate({ user_id, step: 'promote' })}
        />
        <StepButton
          label="Down"
          off={role === 'member'}
          run={() => move.mutate({ user_id, step: 'demote' })}
        />
        <StepButton label="Kick" run={() => setKicked(user_id)} />
      </span>
    ),
  }
  return (
    <section className="stack-tight" aria-label="Members">
      <div className="row">
        <h3 className="grow">Members</h3>
        {mayChange && (
          <button type="button" className="tiny" onClick={() => setAdding(true)}>
            Add
          </button>
        )}
      </div>
      <ErrorNote error={move.error} />
      <DataTable
        label="Members of the group"
        columns={mayChange ? [...columns, ladder] : columns}
        listing={givenListing(String(id), members, read)}
        rowKey={({ user_id }) => user_id}
        empty={<None />}
        inline={true}
      />
      {adding && <AddMember id={id} onClose={() => setAdding(false)} />}
      {kicked && <Kick group={group} user={kicked} onClose={() => setKicked(undefined)} />}
    </section>
  )
}

type KickProps = { group: GroupDetail; user: string; onClose(): void }

function Kick({ group: { id, name }, user, onClose }: KickProps) {
  const who = useName(user)
  const change = useChange({
    send: (client, user_id: string, idempotencyKey) =>
      client.groups.kick({ params: { id, user_id }, idempotencyKey }),
    touches: ['groups'],
    done: `${who} is out of ${name}`,
  })
  return (
    <Confirm
      title={`Kick ${who} out of ${name}`}
      action="Kick"
      danger={true}
      run={() => change.mutateAsync(user)}
      onClose={onClose}
    >
      The membership and its role end. The account may become a member again.
    </Confirm>
  )
}

function StepButton({ label, off = false, run }: { label: string; off?: boolean; run(): void }) {
  return (
    <button type="button" className="tiny" disabled={off} onClick={run}>
      {label}
    </button>
  )
}

const memberFields = { account: accountField({ label: 'Account' }) }

function AddMember({ id, onClose }: { id: number; onClose(): void }) {
  const change = useChange({
    send: (client, body: { user_id: string }, idempotencyKey) =>
      client.groups.addMember({ params: { id }, body, idempotencyKey }),
    touches: ['groups'],
    done: 'Added',
  })
  return (
    <FormDialog
      title="Add a member"
      action="Add"
      fields={memberFields}
      submit={({ account }) => change.mutateAsync({ user_id: account.id })}
      onClose={onClose}
    />
  )
}
