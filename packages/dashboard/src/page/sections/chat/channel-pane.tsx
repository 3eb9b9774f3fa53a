import { api, type ChatMessage } from '@guildhall/contract'
import { useMay } from '../../data/permissions.ts'
import { usePages } from '../../data/reads.ts'
import { ErrorState } from '../../kit/error-state.tsx'
import { Pane } from '../../kit/page.tsx'
import { Empty, Skeleton } from '../../kit/states.tsx'
import { BulkBar } from '../../kit/table/bulk.tsx'
import type { Picking } from '../../kit/table/table-row.tsx'
import { usePicking } from '../../kit/table/use-picking.ts'
import { Badge } from '../../kit/text/badge.tsx'
import { UserLink } from '../../kit/text/links.tsx'
import { Text } from '../../kit/text/text.tsx'
import { Time } from '../../kit/text/time.tsx'

export function ChannelPane({ channel, onClose }: { channel: string; onClose(): void }) {
  const mayDelete = useMay(api.chat.delete)
  const picking = usePicking()
  const history = usePages(['chat', 'history', channel], (desk, before?: number) =>
    desk.chat.history({ params: { channel }, query: { limit: 100, before } }),
  )
  return (
    <Pane title={<Text>{channel}</Text>} label="Channel" onClose={onClose}>
      {history.isLoading && <Skeleton />}
      {history.error && <ErrorState error={history.error} again={history.again} />}
      {!history.isLoading && history.rows.length === 0 && <Empty title="No message is kept" />}
      <ol className="messages" aria-label="Messages, newest first">
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
          touches={['chat']}
          actions={[
            {
              label: 'Delete',
              words: 'The messages keep their place and lose their words, for good.',
              danger: true,
              run: (desk, id, idempotencyKey) =>
                desk.chat.delete({ params: { channel, id }, idempotencyKey }),
            },
          ]}
        />
      )}
    </Pane>
  )
}

type MessageProps = { message: ChatMessage; picking: Picking | undefined }

function Message({ message, picking }: MessageProps) {
  const { id, sender, content, deleted, created_at_unix_ms, revision } = message
  const key = String(id)
  const pick = () => {
    const next = new Set(picking?.picked)
    if (!next.delete(key)) next.add(key)
    picking?.set([...next])
  }
  return (
    <li className="message">
      {picking && !deleted ? (
        <input
          type="checkbox"
          aria-label={`Pick message ${id}`}
          checked={picking.picked.has(key)}
          onChange={pick}
        />
      ) : (
        <span />
      )}
      <UserLink id={sender} />
      <span className="small muted">
        #{id} <Time at={created_at_unix_ms} />
      </span>
      <p>
        {deleted ? (
          <Badge tone="bad">{`deleted, revision ${revision}`}</Badge>
        ) : (
          <Text>{content}</Text>
        )}
      </p>
    </li>
  )
}
