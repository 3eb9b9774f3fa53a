import { api, type ChatMessage } from '@guildhall/contract'
import { useState } from 'react'
import { useRowHeight } from '../../data/display.ts'
import { useMay } from '../../data/permissions.ts'
import { usePages } from '../../data/reads.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { Pane } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { type BulkAction, BulkBar } from '../../kit/table/bulk.tsx'
import { ListHead } from '../../kit/table/list-head.tsx'
import { NewRows, useTopWatch } from '../../kit/table/new-rows.tsx'
import { type Picking, usePicking } from '../../kit/table/picking.ts'
import { PickBox } from '../../kit/table/table-row.tsx'
import { Badge } from '../../kit/text/badge.tsx'
import { NamedText, NamedWords, UserLink } from '../../kit/text/links.tsx'
import { Time } from '../../kit/text/time.tsx'

export function ChannelPane({ channel, onClose }: { channel: string; onClose(): void }) {
  const mayDelete = useMay(api.chat.delete)
  const history = usePages(
    ['chat', 'history', channel],
    (client, before?: number) =>
      client.chat.history({ params: { channel }, query: { limit: 100, before } }),
    { follow },
  )
  // What scrolls is the pane around the messages.
  const [frame, setFrame] = useState<HTMLElement | null>(null)
  useTopWatch(frame, history.following, useRowHeight())
  const picking = usePicking({ listing: history, keyOf, nameOf })
  return (
    <Pane title={<NamedText>{channel}</NamedText>} label="Channel" onClose={onClose}>
      <NewRows following={history.following} frame={frame} noun="new message" />
      <ListHead title="Messages" read={{ ...history, refetch: history.again }} />
      {history.isLoading && <Skeleton />}
      {history.error && <ErrorState error={history.error} again={history.again} />}
      {!history.isLoading && history.rows.length === 0 && <Empty title="No message is kept" />}
      <ol
        ref={(list) => setFrame(list?.closest<HTMLElement>('.pane-body') ?? null)}
        className="messages"
        aria-label="Messages, newest first"
      >
        {history.rows.map((message) => (
          <Message key={message.id} message={message} picking={mayDelete ? picking : undefined} />
        ))}
      </ol>
      {history.hasMore && (
        <button type="button" onClick={history.more} disabled={history.isFetchingMore}>
          Older messages
        </button>
      )}
      {mayDelete && (
        <BulkBar
          picking={picking}
          noun="message"
          nameOf={nameOf}
          show={({ id, content }) => <NamedWords>{`#${id} ${content}`}</NamedWords>}
          touches={['chat']}
          actions={[removalOf(channel)]}
        />
      )}
    </Pane>
  )
}

const keyOf = ({ id }: ChatMessage) => String(id)
const follow = { key: keyOf, state: ({ revision }: ChatMessage) => String(revision) }
const nameOf = ({ id }: ChatMessage) => `message ${id}`

function removalOf(channel: string): BulkAction<ChatMessage> {
  return {
    label: 'Delete',
    words: 'The messages keep their place and lose their words, for good.',
    danger: true,
    run: (client, { id }, idempotencyKey) =>
      client.chat.delete({ params: { channel, id: String(id) }, idempotencyKey }),
  }
}

type MessageProps = { message: ChatMessage; picking: Picking<ChatMessage> | undefined }

function Message({ message, picking }: MessageProps) {
  const { id, sender, content, deleted, created_at_unix_ms, revision } = message
  return (
    <li className="message">
      {picking && !deleted ? <PickBox picking={picking} row={message} /> : <span />}
      <UserLink id={sender} />
      <span className="small muted">
        #{id} <Time at={created_at_unix_ms} />
      </span>
      <p>
        {deleted ? (
          <Badge tone="bad">{`deleted, revision ${revision}`}</Badge>
        ) : (
          <NamedText>{content}</NamedText>
        )}
      </p>
    </li>
  )
}
