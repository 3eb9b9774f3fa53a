import type { Queries } from '../../database/database.ts'
import { type Row, statement } from '../../database/statement.ts'
import { chatChannels, chatMessages, chatModeration } from '../../database/tables/chat.ts'
import { pick, without } from '../../database/tables/table.ts'

const channelRow = pick(
  chatChannels,
  'channel',
  'channel_type',
  'messages',
  'last_activity_unix_ms',
)
const channelColumns = Object.keys(channelRow).join(', ')

const messageRow = without(chatMessages, 'channel')
const messageColumns = Object.keys(messageRow).join(', ')

const message = pick(chatMessages, 'channel', 'id')

const list = statement({
  name: 'chat.list',
  text: `SELECT ${channelColumns} FROM chat_channels
    ORDER BY last_activity_unix_ms DESC, channel LIMIT :limit`,
  params: { limit: 'integer' },
  row: channelRow,
})

const listFiltered = statement({
  name: 'chat.list-filtered',
  text: `SELECT ${channelColumns} FROM chat_channels WHERE {{contains channel :filter}}
    ORDER BY last_activity_unix_ms DESC, channel LIMIT :limit`,
  params: { filter: 'text', limit: 'integer' },
  row: channelRow,
  long: true,
})

/**
 * Makes the channel or counts one more message in it. Either way the row is locked until the end
 * of the transaction, so concurrent appends draw their numbers one after another; a number that is
 * drawn in vain is undone with everything else.
 */
const advance = statement({
  name: 'chat.advance',
  text: `INSERT INTO chat_channels (channel, channel_type, messages, events,
      last_activity_unix_ms)
    VALUES (:channel, :channel_type, 1, 1, :now_unix_ms)
    ON CONFLICT (channel) DO UPDATE SET messages = chat_channels.messages + 1,
      events = chat_channels.events + 1, last_activity_unix_ms = excluded.last_activity_unix_ms
    RETURNING messages, events`,
  params: { ...pick(chatChannels, 'channel', 'channel_type'), now_unix_ms: 'time' },
  row: pick(chatChannels, 'messages', 'events'),
})

const insertMessage = statement({
  name: 'chat.insert-message',
  text: `INSERT INTO chat_messages (channel, ${messageColumns})
    VALUES (:channel, :id, :sender, :content, :created_at_unix_ms, :created_at_unix_ms, 1,
      :last_event_id, 0)
    RETURNING ${messageColumns}`,
  params: {
    ...message,
    sender: 'text',
    content: 'text',
    created_at_unix_ms: 'integer',
    last_event_id: 'integer',
  },
  row: messageRow,
})

const evict = statement({
  name: 'chat.evict',
  text: 'DELETE FROM chat_messages WHERE channel = :channel AND id <= :last_evicted_id',
  params: { channel: 'text', last_evicted_id: 'integer' },
})

/** Channels behind one of them, in their order. */
const page = { after: 'text', channels: 'integer' } as const
const pageText = `SELECT channel, messages FROM chat_channels WHERE channel > :after
  ORDER BY channel LIMIT :channels`

const lastOfPage = statement({
  name: 'chat.last-of-page',
  text: `SELECT channel FROM (${pageText}) AS c ORDER BY channel DESC LIMIT 1`,
  params: page,
  row: { channel: 'text' },
})

const evictSurplus = statement({
  name: 'chat.evict-surplus',
  text: `DELETE FROM chat_messages WHERE (channel, id) IN (
    SELECT m.channel, m.id FROM (${pageText}) AS c
    JOIN chat_messages m ON m.channel = c.channel AND m.id <= c.messages - :history_limit
    LIMIT :batch_items)`,
  params: { ...page, history_limit: 'integer', batch_items: 'integer' },
})

const history = statement({
  name: 'chat.history',
  text: `SELECT ${messageColumns} FROM chat_messages
    WHERE channel = :channel AND id < :before ORDER BY id DESC LIMIT :limit`,
  params: { channel: 'text', before: 'integer', limit: 'integer' },
  row: messageRow,
})

const lock = statement({
  name: 'chat.lock',
  text: `SELECT c.channel FROM chat_channels c WHERE c.channel = :channel {{for update of c}}`,
  params: { channel: 'text' },
  row: { channel: 'text' },
})

const byId = statement({
  name: 'chat.message',
  text: `SELECT ${messageColumns} FROM chat_messages WHERE channel = :channel AND id = :id`,
  params: message,
  row: messageRow,
})

const countEvent = statement({
  name: 'chat.count-event',
  text: `UPDATE chat_channels SET events = events + 1 WHERE channel = :channel
    RETURNING events`,
  params: { channel: 'text' },
  row: { events: 'integer' },
})

const blank = statement({
  name: 'chat.blank',
  text: `UPDATE chat_messages SET content = '', deleted = 1, revision = revision + 1,
      updated_at_unix_ms = :now_unix_ms, last_event_id = :last_event_id
    WHERE channel = :channel AND id = :id
    RETURNING ${messageColumns}`,
  params: { ...message, now_unix_ms: 'integer', last_event_id: 'integer' },
  row: messageRow,
})

const moderationRow = without(chatModeration, 'id')
const moderationColumns = Object.keys(moderationRow)

const insertModeration = statement({
  name: 'chat.insert-moderation',
  text: `INSERT INTO chat_moderation (${moderationColumns.join(', ')})
    VALUES (${moderationColumns.map((column) => `:${column}`).join(', ')})`,
  params: moderationRow,
})

const pruneModeration = statement({
  name: 'chat.prune-moderation',
  text: `DELETE FROM chat_moderation WHERE id IN (
    SELECT id FROM chat_moderation WHERE time_unix_ms < :before_unix_ms
    ORDER BY time_unix_ms LIMIT :batch_items)`,
  params: { before_unix_ms: 'integer', batch_items: 'integer' },
})

type MessageKey = Row<typeof message>

/** Queries about channels and their messages; every function takes the transaction first. */
export const chatStore = {
  list: (tx: Queries, { filter, limit }: Row<(typeof listFiltered)['params']>) =>
    filter === '' ? tx.all(list, { limit }) : tx.all(listFiltered, { filter, limit }),
  async advance(tx: Queries, activity: Row<(typeof advance)['params']>) {
    const row = await tx.get(advance, activity)
    if (row === undefined) throw new Error('a channel did not count its message')
    return row
  },
  async insertMessage(tx: Queries, row: Row<(typeof insertMessage)['params']>) {
    const inserted = await tx.get(insertMessage, row)
    if (inserted === undefined) throw new Error('the new message did not come back')
    return inserted
  },
  evict: (tx: Queries, bound: Row<(typeof evict)['params']>) => tx.run(evict, bound),
  /** The last of so many channels behind `after`, or undefined when there is none. */
  lastOfPage: async (tx: Queries, of: Row<typeof page>) => (await tx.get(lastOfPage, of))?.channel,
  /** Removes up to `batch_items` messages that these channels keep beyond the limit; how many. */
  evictSurplus: (tx: Queries, bounds: Row<(typeof evictSurplus)['params']>) =>
    tx.run(evictSurplus, bounds),
  history: (tx: Queries, page: Row<(typeof history)['params']>) => tx.all(history, page),
  /** Keeps every other change of the channel waiting; false when there is no such channel. */
  lock: async (tx: Queries, channel: string) => (await tx.get(lock, { channel })) !== undefined,
  byId: (tx: Queries, key: MessageKey) => tx.get(byId, key),
  /** Blanks a message under the next event of its channel; answers what is left of it. */
  async blank(tx: Queries, { now_unix_ms, ...key }: MessageKey & { now_unix_ms: number }) {
    const counted = await tx.get(countEvent, { channel: key.channel })
    if (counted === undefined) throw new Error('a message is in a channel that is not there')
    const row = await tx.get(blank, { ...key, now_unix_ms, last_event_id: counted.events })
    if (row === undefined) throw new Error('a message that was locked is gone')
    return row
  },
  insertModeration: (tx: Queries, row: Row<typeof moderationRow>) => tx.run(insertModeration, row),
  pruneModeration: (tx: Queries, bounds: Row<(typeof pruneModeration)['params']>) =>
    tx.run(pruneModeration, bounds),
}
