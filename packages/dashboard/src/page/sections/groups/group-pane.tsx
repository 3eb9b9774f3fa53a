import { api, type GroupDetail } from '@guildhall/contract'
import { useMemo, useState } from 'react'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useMay } from '../../data/permissions.ts'
import { useRead } from '../../data/reads.ts'
import { Confirm } from '../../kit/dialog/confirm.tsx'
import { anyText, checkField, integerField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Await } from '../../kit/states.tsx'
import { NamedText } from '../../kit/text/links.tsx'
import { None, Text } from '../../kit/text/text.tsx'
import { ExactTime } from '../../kit/text/time.tsx'
import { Members } from './members.tsx'

export function GroupPane({ id, onClose }: { id: number; onClose(): void }) {
  const group = useRead(['groups', 'one', id], (client) => client.groups.get({ params: { id } }))
  const { data } = group
  return (
    <Pane
      title={data ? <Text>{data.name}</Text> : `Group ${id}`}
      label="Group"
      onClose={onClose}
      actions={data && <GroupActions group={data} onDeleted={onClose} />}
    >
      <Await query={group}>
        {(found) => (
          <>
            <Facts
              rows={{
                Id: found.id,
                Description:
                  found.description === '' ? <None /> : <NamedText>{found.description}</NamedText>,
                Members:
                  found.max_size === 0
                    ? grouped(found.member_count)
                    : `${grouped(found.member_count)} of ${grouped(found.max_size)}`,
                Open: found.open ? 'yes' : 'no',
                Founded: <ExactTime at={found.created_at_unix_ms} />,
              }}
            />
            <Members group={found} read={group} />
          </>
        )}
      </Await>
    </Pane>
  )
}

function GroupActions({ group, onDeleted }: { group: GroupDetail; onDeleted(): void }) {
  const [asked, setAsked] = useState<'edit' | 'delete'>()
  const mayChange = useMay(api.groups.update)
  const { id, name } = group
  const remove = useChange({
    send: (client, id: number, idempotencyKey) =>
      client.groups.delete({ params: { id }, idempotencyKey }),
    touches: ['groups'],
    done: `Deleted ${name}`,
  })
  if (!mayChange) return null
  return (
    <>
      <button type="button" onClick={() => setAsked('edit')}>
        Edit
      </button>
      <button type="button" className="danger" onClick={() => setAsked('delete')}>
        Delete group
      </button>
      {asked === 'edit' && <EditGroup group={group} onClose={() => setAsked(undefined)} />}
      {asked === 'delete' && (
        <Confirm
          title={`Delete the group ${name}`}
          action="Delete"
          danger={true}
          typed={name}
          run={async () => {
            await remove.mutateAsync(id)
            onDeleted()
          }}
          onClose={() => setAsked(undefined)}
        >
          The group and all its memberships end for good.
        </Confirm>
      )}
    </>
  )
}

type GroupChange = { description?: string; max_size?: number; open?: boolean }

function EditGroup({ group, onClose }: { group: GroupDetail; onClose(): void }) {
  const { id, description, max_size, open } = group
  const fields = useMemo(
    () => ({
      description: anyText({ label: 'Description', initial: description, area: true }),
      max_size: integerField({
        label: 'Largest number of members',
        hint: '0 is any number',
        initial: String(max_size),
        min: 0,
        max: 4_294_967_295,
      }),
      open: checkField({ label: 'Open', checked: open }),
    }),
    [description, max_size, open],
  )
  const change = useChange({
    send: (client, body: GroupChange, idempotencyKey) =>
      client.groups.update({ params: { id }, body, idempotencyKey }),
    touches: ['groups'],
    done: 'Saved',
  })
  return (
    <FormDialog
      title={`Edit ${group.name}`}
      action="Save"
      fields={fields}
      submit={(_, changed) => change.mutateAsync(changed)}
      onClose={onClose}
    />
  )
}
