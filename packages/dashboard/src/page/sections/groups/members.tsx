import { api, type GroupDetail } from '@guildhall/contract'
import { useState } from 'react'
import { useChange } from '../../data/changes.ts'
import { useMay } from '../../data/permissions.ts'
import { wholeListing } from '../../data/reads.ts'
import { ErrorNote } from '../../kit/error-state.tsx'
import { textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { type Column, DataTable } from '../../kit/table/table.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { None } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

type Member = GroupDetail['members'][number]

const tones = { member: 'none', admin: 'accent', superadmin: 'warn' } as const
const rungs = ['member', 'admin', 'superadmin']

const columns: readonly Column<Member>[] = [
  { key: 'who', head: 'Member', width: 170, cell: ({ user_id }) => <UserLink id={user_id} /> },
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

type Step = { user_id: string; step: 'promote' | 'demote' | 'kick' }
const done = { promote: 'Promoted', demote: 'Demoted', kick: 'Removed' } as const

export function Members({ group }: { group: GroupDetail }) {
  const { id, members } = group
  const [adding, setAdding] = useState(false)
  const mayChange = useMay(api.groups.promote)
  const move = useChange({
    send: (desk, { user_id, step }: Step, idempotencyKey) =>
      desk.groups[step]({ params: { id, user_id }, idempotencyKey }),
    touches: ['groups'],
    done: (_, { step }) => done[step],
  })
  const ladder: Column<Member> = {
    key: 'steps',
    head: '',
    width: 158,
    cell: ({ user_id, role }) => (
      <span className="row">
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
        <StepButton label="Kick" run={() => move.mutate({ user_id, step: 'kick' })} />
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
        listing={wholeListing({ error: null, isPending: false, refetch() {} }, members)}
        rowKey={({ user_id }) => user_id}
        empty={<None />}
        inline={true}
      />
      {adding && <AddMember id={id} onClose={() => setAdding(false)} />}
    </section>
  )
}

function StepButton({ label, off = false, run }: { label: string; off?: boolean; run(): void }) {
  return (
    <button type="button" className="tiny" disabled={off} onClick={run}>
      {label}
    </button>
  )
}

const memberFields = { user_id: textField({ label: 'User id' }) }

function AddMember({ id, onClose }: { id: number; onClose(): void }) {
  const change = useChange({
    send: (desk, body: { user_id: string }, idempotencyKey) =>
      desk.groups.addMember({ params: { id }, body, idempotencyKey }),
    touches: ['groups'],
    done: 'Added',
  })
  return (
    <FormDialog
      title="Add a member"
      action="Add"
      fields={memberFields}
      submit={(body) => change.mutateAsync(body)}
      onClose={onClose}
    />
  )
}
