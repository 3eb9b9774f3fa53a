import { api, type GroupSummary } from '@guildhall/contract'
import { useNavigate } from '@tanstack/react-router'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { nextOffset, usePages } from '../../data/reads.ts'
import { optionalAccount } from '../../kit/form/account-field.ts'
import { checkField, integerField, optionalText, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { NamedWords } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'
import { GroupPane } from './group-pane.tsx'

const columns: readonly Column<GroupSummary>[] = [
  { key: 'id', head: 'Id', width: 70, align: 'number', cell: ({ id }) => id },
  { key: 'name', head: 'Name', cell: ({ name }) => <Text>{name}</Text> },
  {
    key: 'description',
    head: 'Description',
    wide: true,
    cell: ({ description }) => description && <NamedWords>{description}</NamedWords>,
  },
  {
    key: 'members',
    head: 'Members',
    width: 110,
    align: 'number',
    cell: ({ member_count, max_size }) =>
      max_size === 0 ? grouped(member_count) : `${grouped(member_count)} of ${grouped(max_size)}`,
  },
  {
    key: 'created',
    medium: true,
    head: 'Founded',
    width: 120,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
]

export function GroupsPage() {
  const [filter, setFilter] = useQueryPart('filter')
  const listing = usePages(['groups', 'list', filter], async (client, offset?: number) => {
    const page = await client.groups.list({ query: { filter, limit: 200, offset: offset ?? 0 } })
    return { ...page, next: nextOffset(offset, page) }
  })
  return (
    <Section
      title="Groups"
      label="Groups"
      columns={columns}
      listing={listing}
      rowKey={(group) => String(group.id)}
      opened={useOpenedPath('/groups')}
      tools={
        <FilterInput label="Part of a name" value={filter} onValue={setFilter} isMain={true} />
      }
      pane={({ key, close }) => <GroupPane id={Number(key)} onClose={close} />}
      empty={<Empty title={filter === '' ? 'No groups yet' : 'No group matches'} />}
      add={{
        route: api.groups.create,
        label: 'New group',
        form: (close) => <FoundGroup onClose={close} />,
      }}
    />
  )
}

const newGroup = {
  name: textField({ label: 'Name', hint: 'Nobody else has it, and it cannot be changed' }),
  description: optionalText({ label: 'Description', area: true }),
  max_size: integerField({
    label: 'Largest number of members',
    hint: '0 is any number',
    initial: '0',
    min: 0,
    max: 4_294_967_295,
  }),
  open: checkField({ label: 'Open', hint: 'Only shown: nothing enforces it', checked: true }),
  founder: optionalAccount({ label: 'Founder', hint: 'Nothing: it is founded in your name' }),
}

function FoundGroup({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const change = useChange({
    send: (client, body: { name: string; creator_user_id: string | undefined }, idempotencyKey) =>
      client.groups.create({ body, idempotencyKey }),
    touches: ['groups'],
    done: ({ name }) => `Founded ${name}`,
  })
  return (
    <FormDialog
      title="New group"
      action="Create"
      fields={newGroup}
      submit={async ({ founder, ...group }) => {
        const { id } = await change.mutateAsync({ ...group, creator_user_id: founder?.id })
        void navigate({ to: '/groups/$id', params: { id: String(id) } })
      }}
      onClose={onClose}
    />
  )
}
