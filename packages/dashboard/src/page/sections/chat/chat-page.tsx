import { api, type ChatChannel, channelTypes } from '@guildhall/contract'
import { useMemo } from 'react'
import { grouped } from '../../../model/time.ts'
import { useChange } from '../../data/changes.ts'
import { useQueryPart } from '../../data/location.ts'
import { useOpenedPath } from '../../data/opened.ts'
import { pace } from '../../data/pace.ts'
import { useRead, wholeListing } from '../../data/reads.ts'
import { askForPlayer, userField } from '../../kit/form/account-field.ts'
import { areaField, selectField, textField } from '../../kit/form/field-kinds.ts'
import { FormDialog } from '../../kit/form/form.tsx'
import { Section } from '../../kit/section.tsx'
import { Empty } from '../../kit/states.tsx'
import type { Column } from '../../kit/table/columns.ts'
import { FilterInput } from '../../kit/table/filter.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { NamedWords } from '../../kit/text/links.tsx'
import { Time } from '../../kit/text/time.tsx'
import { ChannelPane } from './channel-pane.tsx'

const columns: readonly Column<ChatChannel>[] = [
  {
    key: 'channel',
    head: 'Channel',
    cell: ({ channel }) => <NamedWords>{channel}</NamedWords>,
    sort: (a, b) => a.channel.localeCompare(b.channel),
  },
  {
    key: 'type',
    medium: true,
    head: 'Type',
    width: 90,
    cell: ({ channel_type }) => <Badge>{channel_type}</Badge>,
  },
  {
    key: 'messages',
    head: 'Messages',
    width: 100,
    align: 'number',
    cell: ({ messages }) => grouped(messages),
    sort: (a, b) => a.messages - b.messages,
  },
  {
    key: 'last',
    head: 'Last message',
    width: 120,
    cell: ({ last_activity_unix_ms }) => <Time at={last_activity_unix_ms} />,
    sort: (a, b) => a.last_activity_unix_ms - b.last_activity_unix_ms,
  },
]

export function ChatPage() {
  const [filter, setFilter] = useQueryPart('filter')
  const opened = useOpenedPath('/chat', 'channel')
  const channels = useRead(
    ['chat', 'list', filter],
    (client) => client.chat.list({ query: { filter, limit: 500 } }),
    { keep: true, everyMs: pace.beside },
  )
  return (
    <Section
      title="Chat"
      label="Channels"
      columns={columns}
      listing={wholeListing(channels, channels.data?.items)}
      rowKey={(row) => row.channel}
      opened={opened}
      tools={
        <FilterInput
          label="Part of a channel id"
          value={filter}
          onValue={setFilter}
          isMain={true}
        />
      }
      pane={({ key, close }) => <ChannelPane channel={key} onClose={close} />}
      empty={<Empty title={filter === '' ? 'No channel yet' : 'No channel matches'} />}
      foot={countOf(channels.data)}
      add={{
        route: api.chat.append,
        label: 'New message',
        form: (close) => <WriteMessage channel={opened.key ?? ''} onClose={close} />,
      }}
    />
  )
}

function WriteMessage({ channel, onClose }: { channel: string; onClose(): void }) {
  const fields = useMemo(
    () => ({
      channel: textField({ label: 'Channel', initial: channel }),
      sender: userField({
        label: 'Sender',
        hint: 'An account, or any name that the game shows; players see it as theirs',
      }),
      content: areaField({ label: 'Message', hint: 'At most 2,048 bytes; it is not pushed' }),
      channel_type: selectField({
        label: 'Type',
        choices: channelTypes,
        hint: 'Counts only for the first message of a channel',
      }),
    }),
    [channel],
  )
  const change = useChange({
    send: (client, { channel, ...body }: MessageInput, idempotencyKey) =>
      client.chat.append({ params: { channel }, body, idempotencyKey }),
    touches: ['chat'],
    done: 'Written',
  })
  return (
    <FormDialog
      title="Write a message"
      action="Send"
      fields={fields}
      ask={({ sender }) => askForPlayer(sender)}
      submit={({ sender, ...input }) => change.mutateAsync({ ...input, sender: sender.id })}
      onClose={onClose}
    />
  )
}

/** The total counts all channels, also those that the filter leaves out. */
function countOf(page: { items: readonly unknown[]; total: number } | undefined): string {
  return page === undefined ? '' : `${grouped(page.items.length)} of ${grouped(page.total)}`
}

type MessageInput = {
  channel: string
  sender: string
  content: string
  channel_type: (typeof channelTypes)[number]
}
