import type { ConsoleClient } from '@guildhall/client/console'
import { api, type JsonObject } from '@guildhall/contract'
import { useMemo } from 'react'
import { useChange } from '../../data/changes.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedQuery } from '../../data/opened.ts'
import { usePages } from '../../data/reads.ts'
import { accountField } from '../../kit/form/account-field.ts'
import {
  integerField,
  jsonField,
  selectField,
  shownWhen,
  textField,
} from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Facts, Pane } from '../../kit/page.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Bulk, BulkAction } from '../../kit/table/bulk.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterAccount } from '../../kit/table/filter-account.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { JsonView } from '../../kit/text/json-view.tsx'
import { NamedText, NamedWords, UserLink } from '../../kit/text/links.tsx'
import { ExactTime, Time } from '../../kit/text/time.tsx'

type Note = Awaited<ReturnType<ConsoleClient['notifications']['list']>>['items'][number]

const columns: readonly Column<Note>[] = [
  { key: 'id', medium: true, head: 'Id', width: 80, align: 'number', cell: ({ id }) => id },
  { key: 'subject', head: 'Subject', cell: ({ subject }) => <NamedWords>{subject}</NamedWords> },
  { key: 'to', head: 'To', cell: ({ user_id }) => <Receiver id={user_id} /> },
  { key: 'code', head: 'Code', width: 80, align: 'number', wide: true, cell: ({ code }) => code },
  { key: 'read', head: 'Read', width: 70, wide: true, cell: ({ read }) => (read ? 'yes' : 'no') },
  {
    key: 'sent',
    head: 'Sent',
    width: 110,
    cell: ({ created_at_unix_ms }) => <Time at={created_at_unix_ms} />,
  },
]

function Receiver({ id }: { id: string | null }) {
  return id === null ? <Badge tone="accent">everybody</Badge> : <UserLink id={id} />
}

const pageSize = 200

export function NotificationsPage() {
  const [user, setUser] = useQueryPart('user')
  const listing = usePages(
    ['notifications', 'list', user],
    async (client, before?: number) => {
      const query = { limit: pageSize, before, ...(user === '' ? {} : { user_id: user }) }
      const { items, total } = await client.notifications.list({ query })
      return { items, total, next: items.length < pageSize ? undefined : items.at(-1)?.id }
    },
    { follow },
  )
  return (
    <Section
      title="Notifications"
      label="Notifications"
      columns={columns}
      listing={listing}
      rowKey={keyOf}
      opened={useOpenedQuery('open')}
      tools={
        <FilterAccount label="To, broadcasts too" value={user} onValue={setUser} isMain={true} />
      }
      pane={({ row, close }) => row && <NotePane note={row} onClose={close} />}
      bulk={bulk}
      empty={<Empty title="No notifications" />}
      add={{
        route: api.notifications.send,
        label: 'New notification',
        form: (close) => <SendNote user={user} onClose={close} />,
      }}
    />
  )
}

const keyOf = ({ id }: Note) => String(id)
const follow = { key: keyOf }
const nameOf = ({ id, subject }: Note) => `#${id} ${subject}`

const removal: BulkAction<Note> = {
  label: 'Delete',
  words: 'Nobody can read them any more.',
  danger: true,
  run: (client, { id }, idempotencyKey) =>
    client.notifications.delete({ params: { id: String(id) }, idempotencyKey }),
}

const bulk: Bulk<Note> = {
  route: api.notifications.delete,
  noun: 'notification',
  nameOf,
  touches: ['notifications'],
  actions: [removal],
}

function NotePane({ note, onClose }: { note: Note; onClose(): void }) {
  return (
    <Pane title={<NamedText>{note.subject}</NamedText>} label="Notification" onClose={onClose}>
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

const receivers = ['one account', 'everybody'] as const

function SendNote({ user, onClose }: { user: string; onClose(): void }) {
  const fields = useMemo(
    () => ({
      to: selectField({ label: 'To', choices: receivers }),
      account: shownWhen('to', receivers[0], accountField({ label: 'Account', initial: user })),
      subject: textField({ label: 'Subject' }),
      code: integerField({ label: 'Code', initial: '0', min: -2147483648, max: 2147483647 }),
      content: jsonField({ label: 'Content' }),
    }),
    [user],
  )
  const change = useChange({
    send: (client, body: NewNote, idempotencyKey) =>
      client.notifications.send({ body, idempotencyKey }),
    touches: ['notifications'],
    done: ({ user_id }) => (user_id === null ? 'Sent to everybody' : 'Sent'),
  })
  return (
    <FormDialog
      title="Send a notification"
      action="Send"
      fields={fields}
      submit={({ to: _, account, ...note }) =>
        change.mutateAsync({ ...note, user_id: account?.id })
      }
      ask={({ account, subject }) =>
        account === undefined
          ? { words: `Every player can read “${subject}”.`, action: 'Send to everybody' }
          : undefined
      }
      onClose={onClose}
    >
      <p className="muted">It is stored to be read; who is connected is not seen.</p>
    </FormDialog>
  )
}
