import { type ChatMessage, type channelTypes, chatApi } from '@guildhall/contract'
import type { Database, Transaction } from '../../database/database.ts'
import { totals } from '../../database/writes/totals.ts'
import { type Actor, nameOf } from '../../kernel/audit/actor.ts'
import { sha256 } from '../../kernel/auth/sha256.ts'
import type { Clock } from '../../kernel/clock.ts'
import { refuse } from '../../kernel/failure.ts'
import type { Done, Mutate, Mutation } from '../../kernel/mutation.ts'
import type { Transact } from '../../kernel/tasks/lease.ts'
import { chatStore } from './chat.store.ts'

export type ChatDeps = {
  db: Database
  clock: Clock
  mutate: Mutate<Transaction>
  nodeId: string
  /** Messages that a channel keeps. */
  historyLimit: number
  moderationRetentionDays: number
}

export type NewMessage = {
  channel: string
  sender: string
  content: string
  /** What the channel becomes with its first message; later messages change nothing of it. */
  channel_type?: (typeof channelTypes)[number] | undefined
}

type MessageKey = { channel: string; id: number }

export type Chat = ReturnType<typeof createChat>

/**
 * Channels and their bounded histories. Every change of a channel locks its row first, so the
 * numbers of its messages and events have neither gap nor repeat, whichever nodes append.
 */
export function createChat(deps: ChatDeps) {
  const { db, clock, mutate } = deps
  const rules = createRules(deps)
  const change = <T>(mutation: Mutation, work: (tx: Transaction) => Promise<Done<T>>) =>
    mutate(mutation, work, { isolation: 'read committed' })

  return {
    async list({ filter = '', limit }: { filter?: string | undefined; limit: number }) {
      const [items, total] = await Promise.all([
        chatStore.list(db, { filter, limit }),
        totals.of(db, 'chat_channels'),
      ])
      return { items, total }
    },

    async history(page: { channel: string; limit: number; before?: number | undefined }) {
      const { channel, limit, before = Number.MAX_SAFE_INTEGER } = page
      const items = await chatStore.history(db, { channel, limit, before })
      const last = items.length === limit ? items.at(-1) : undefined
      return { channel, items, ...(last === undefined ? {} : { next: last.id }) }
    },

    append: (mutation: Mutation, message: NewMessage) =>
      change(mutation, (tx) => rules.append(tx, message)),

    /** Blanks a message, once; answers what is left of it. */
    delete: (mutation: Mutation, key: MessageKey): Promise<ChatMessage> =>
      change(mutation, (tx) => rules.blank(tx, key, mutation.actor)),

    /** Removes up to `batchItems` moderation records past their retention; answers how many. */
    pruneModeration: (batchItems: number, transact: Transact<Transaction> = db.transaction) =>
      transact((tx) =>
        chatStore.pruneModeration(tx, {
          before_unix_ms: clock.nowUnixMs() - deps.moderationRetentionDays * 86_400_000,
          batch_items: batchItems,
        }),
      ),
  }
}

/** The changes themselves, within whatever transaction carries them. */
function createRules({ clock, nodeId, historyLimit }: ChatDeps) {
  return {
    async append(tx: Transaction, message: NewMessage): Promise<Done<ChatMessage>> {
      const { channel, sender, content, channel_type = 'room' } = message
      const now_unix_ms = clock.nowUnixMs()
      const counted = await chatStore.advance(tx, { channel, channel_type, now_unix_ms })
      const id = counted.messages
      const answer = await chatStore.insertMessage(tx, {
        channel,
        id,
        sender,
        content,
        created_at_unix_ms: now_unix_ms,
        last_event_id: counted.events,
      })
      if (id > historyLimit) {
        await chatStore.evict(tx, { channel, last_evicted_id: id - historyLimit })
      }
      if (id === 1) await totals.grow(tx, 'chat_channels')
      return { answer, target: `${channel}#${id}`, details: `sender=${sender}` }
    },

    async blank(tx: Transaction, key: MessageKey, actor: Actor): Promise<Done<ChatMessage>> {
      const known = await chatStore.lock(tx, key.channel)
      let message = known ? await chatStore.byId(tx, key) : undefined
      if (message === undefined) throw refuse.notFound('no such message in the channel')
      const { channel, id } = key
      if (!message.deleted) {
        const now_unix_ms = clock.nowUnixMs()
        const { sender } = message
        message = await chatStore.blank(tx, { channel, id, now_unix_ms })
        await chatStore.insertModeration(tx, {
          time_unix_ms: now_unix_ms,
          actor_kind: actor.kind,
          actor_digest: digest(nameOf(actor)),
          channel_digest: digest(channel),
          author_digest: digest(sender),
          action: chatApi.delete.audit,
          message_id: id,
          node_id: nodeId,
        })
      }
      return { answer: message, target: `${channel}#${id}`, details: 'tombstone' }
    },
  }
}

/** Records of moderation outlive what they report, so they name nobody. */
function digest(text: string): Buffer {
  return sha256(text)
}
