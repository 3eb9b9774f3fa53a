import type { ConsoleClient } from '@guildhall/client/console'
import { api, type JsonObject } from '@guildhall/contract'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { useQueryPart } from '../../data/location.ts'
import { useMay } from '../../data/permissions.ts'
import { type Listing, usePages } from '../../data/reads.ts'
import { integerField, jsonField, optionalText, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Facts, NewButton, Page, Pane, Split } from '../../kit/page.tsx'
import { Empty } from '../../kit/states.tsx'
import { BulkBar } from '../../kit/table/bulk.tsx'
import { FilterInput } from '../../kit/table/filter.tsx'
import { type Column, DataTable } from '../../kit/table/table.tsx'
import { usePicking } from '../../kit/table/use-picking.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'

type Note = Awaited<ReturnType<ConsoleClient['notifications']['list']>>['items'][number]

const columns: readonly Column<Note>[] = [
  { key: 'id', head: 'Id', width: 80, align: 'number', cell: ({ id }) => id },
  { key: 'subject', head: 'Subject', cell: ({ subject }) => <Text>{subject}</Text> },
  { key: 'to', head: 'To', cell: ({ user_id }) => <Receiver id={user_id} /> },
  { key: 'code', head: 'Code', width: 80, align: 'number', wide: true, cell: ({ code }) => code },
  { key: 'read', head: 'Read', width: 70, wide: true, cell: ({ read }) => (read ? 'yes' : 'no') },
  {
    key: 'sent',
    head: 'Sent',
    width: 120,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
]

function Receiver({ id }: { id: string | null }) {
  return id === null ? <Badge tone="accent">everybody</Badge> : <UserLink id={id} />
}

const pageSize = 200

export function NotificationsPage() {
  const [user, setUser] = useQueryPart('user')
  const [isNew, setNew] = useQueryPart('new')
  const [openId, setOpenId] = useQueryPart('open', { pushes: true })
  const maySend = useMay(api.notifications.send)
  const listing = usePages(['notifications', 'list', user], async (desk, before?: number) => {
    const query = { limit: pageSize, before, ...(user === '' ? {} : { user_id: user }) }
    const { items, total } = await desk.notifications.list({ query })
    return { items, total, next: items.length < pageSize ? undefined : items.at(-1)?.id }
  })
  const open = listing.rows.find(({ id }) => String(id) === openId)
  const list = (
    <>
      <div className="page-tools">
        <FilterInput
          label="User id, exactly; broadcasts too"
          value={user}
          onValue={setUser}
          isMain={true}
        />
      </div>
      <Notes listing={listing} openId={openId} onOpen={setOpenId} />
    </>
  )
  return (
    <Page
      title="Notifications"
      actions={maySend && <NewButton onNew={() => setNew('yes')}>New notification</NewButton>}
    >
      <Split list={list} pane={open && <NotePane note={open} onClose={() => setOpenId('')} />} />
      {isNew && maySend && <SendNote user={user} onClose={() => setNew('')} />}
    </Page>
  )
}

type NotesProps = { listing: Listing<Note>; openId: string; onOpen(id: string): void }

function Notes({ listing, openId, onOpen }: NotesProps) {
  const mayDelete = useMay(api.notifications.delete)
  const picking = usePicking()
  return (
    <>
      <DataTable
        label="Notifications"
        columns={columns}
        listing={listing}
        rowKey={({ id }) => String(id)}
        openKey={openId}
        onOpen={({ id }) => onOpen(String(id))}
        picking={mayDelete ? picking : undefined}
        empty={<Empty title="No notifications" />}
      />
      {mayDelete && <BulkBar picking={picking} touches={['notifications']} actions={[removal]} />}
    </>
  )
}

const removal = {
  label: 'Delete',
  words: 'Nobody can read them any more.',
  danger: true,
  run: (desk: ConsoleClient, id: string, idempotencyKey: string) =>
    desk.notifications.delete({ params: { id }, idempotencyKey }),
}

function NotePane({ note, onClose }: { note: Note; onClose(): void }) {
  return (
    <Pane title={<Text>{note.subject}</Text>} label="Notification" onClose={onClose}>
      <Facts
        rows={{
          Id: note.id,
          To: <Receiver id={note.user_id} />,
          Code: note.code,
          Read: note.read ? 'yes' : 'no',
          Sent: <ExactTime at={note.created_at_unix_ms} />,
        }}
      />
      <JsonView value={note.content} label="Content" />
    </Pane>
  )
}

type NewNote = {
  user_id: string | undefined
  subject: string
  content: JsonObject
  code: number
}

function SendNote({ user, onClose }: { user: string; onClose(): void }) {
  const fields = useMemo(
    () => ({
      user_id: optionalText({ label: 'User id', hint: 'Empty: everybody', initial: user }),
      subject: textField({ label: 'Subject' }),
      code: integerField({ label: 'Code', initial: '0', min: -2147483648, max: 2147483647 }),
      content: jsonField({ label: 'Content' }),
    }),
    [user],
  )
  const change = useChange({
    send: (desk, body: NewNote, idempotencyKey) =>
      desk.notifications.send({ body, idempotencyKey }),
    touches: ['notifications'],
    done: 'Sent',
  })
  return (
    <FormDialog
      title="Send a notification"
      action="Send"
      fields={fields}
      submit={(body) => change.mutateAsync(body)}
      onClose={onClose}
    >
      <p className="muted">It is stored to be read; who is connected is not seen.</p>
    </FormDialog>
  )
}
