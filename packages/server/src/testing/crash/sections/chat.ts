import { hash } from 'node:crypto'
import { ChatMessage } from '@guildhall/contract'
import type { Queries } from '../../../database/database.ts'
import { statement } from '../../../database/statement.ts'
import {
  expectSame,
  expectThat,
  type Operation,
  operation,
  type Section,
  succeeded,
} from '../operation.ts'
import type { Random } from '../random.ts'
import type { Entry, Trail } from './trail.ts'

type Deps = { trail: Trail; random: Random; mark(kind: string): string; historyLimit: number }

/** A message by its content, which is a mark of its own. */
type Message = { id: number; content: string; deleted: boolean; busy: boolean }
type Channel = { name: string; messages: Map<number, Message> }

const names = ['lobby', 'trade', 'guild', 'café ☕']

/** Appends to few channels at the same time, and deletions, some of them repeated. */
export function createChatSection({ trail, random, mark, historyLimit }: Deps): Section {
  const channels = names.map((name): Channel => ({ name, messages: new Map() }))
  const stored = createStored()

  function next(): Operation | undefined {
    const channel = random.pick(channels)
    if (channel === undefined) return undefined
    if (random.chance(0.7)) return append(channel)
    const newest = [...channel.messages.values()].slice(-historyLimit)
    const message = random.pick(newest.filter(({ busy }) => !busy))
    return message && blank(channel, message)
  }

  function append({ name, messages }: Channel): Operation {
    const content = mark('message')
    return operation<{ id: number }>({
      request: {
        method: 'POST',
        path: `/console/v1/chat/${encodeURIComponent(name)}/messages`,
        body: { sender: 'ana', content },
      },
      heard(answer) {
        if (!succeeded(answer, 200)) return undefined
        const message = ChatMessage().parse(answer.body)
        expectSame(message.content, content, 'the appended message')
        return message
      },
      found: () => stored.byContent(name, content),
      apply({ id }) {
        expectThat(!messages.has(id), `message ${id} of ${name} was issued twice`)
        messages.set(id, { id, content, deleted: false, busy: false })
        const target = `${name}#${id}`
        trail.expect({ action: 'chat.message.append', target, details: 'sender=ana' })
      },
    })
  }

  function blank({ name }: Channel, message: Message): Operation {
    const target = `${name}#${message.id}`
    const entry: Entry = { action: 'chat.message.delete', target, details: 'tombstone' }
    message.busy = true
    return operation<object>({
      request: {
        method: 'DELETE',
        path: `/console/v1/chat/${encodeURIComponent(name)}/messages/${message.id}`,
      },
      // What others append meanwhile may evict it.
      heard: (answer) => (succeeded(answer, 204, [404]) ? {} : undefined),
      found: () => (trail.has(entry) ? {} : undefined),
      apply() {
        message.deleted = true
        trail.expect(entry)
      },
      release() {
        message.busy = false
      },
    })
  }

  return {
    weight: 6,
    next,
    read: stored.read,
    check() {
      for (const channel of channels) checkChannel(channel, stored, historyLimit)
    },
  }
}

function checkChannel({ name, messages }: Channel, stored: Stored, historyLimit: number): void {
  const noted = [...messages.values()].toSorted((a, b) => a.id - b.id)
  const ids = noted.map(({ id }) => id)
  expectSame(
    ids,
    Array.from(ids, (_, at) => at + 1),
    `the ids in ${name}`,
  )
  const deleted = noted.filter((message) => message.deleted)
  const counted = { messages: noted.length, events: noted.length + deleted.length }
  const row = stored.channel(name) ?? { messages: 0, events: 0 }
  expectSame(row, counted, `the counters of ${name}`)
  const kept = noted.slice(-historyLimit).map(({ id, content, deleted }) => {
    return { id, content: deleted ? '' : content, deleted: deleted ? 1 : 0 }
  })
  expectSame(stored.history(name), kept, `the history of ${name}`)
  const moderated = deleted.map(({ id }) => id)
  expectSame(stored.moderated(name), moderated, `the moderation records of ${name}`)
}

type Stored = ReturnType<typeof createStored>

/** What the store says of channels, messages and moderation. */
function createStored() {
  let channels: StoredChannel[] = []
  let messages: StoredMessage[] = []
  let records: { channel: string; message_id: number }[] = []
  return {
    byContent: (name: string, content: string) =>
      messages.find((message) => message.channel === name && message.content === content),
    channel(name: string) {
      const found = channels.find(({ channel }) => channel === name)
      return found && { messages: found.messages, events: found.events }
    },
    history: (name: string) =>
      messages
        .filter(({ channel }) => channel === name)
        .map(({ id, content, deleted }) => ({ id, content, deleted })),
    moderated(name: string): number[] {
      const digest = hash('sha256', name, 'hex')
      const own = records.filter(({ channel }) => channel === digest)
      return own.map(({ message_id }) => message_id)
    },
    async read(state: Queries): Promise<void> {
      channels = await state.all(channelRows, {})
      messages = await state.all(messageRows, {})
      const rows = await state.all(recordRows, {})
      records = rows.map(({ channel_digest, message_id }) => {
        return { channel: Buffer.from(channel_digest).toString('hex'), message_id }
      })
    },
  }
}

type StoredChannel = { channel: string; messages: number; events: number }
type StoredMessage = { channel: string; id: number; content: string; deleted: number }

const channelRows = statement({
  name: 'crash.channels',
  text: 'SELECT channel, messages, events FROM chat_channels',
  row: { channel: 'text', messages: 'integer', events: 'integer' },
})

const messageRows = statement({
  name: 'crash.messages',
  text: 'SELECT channel, id, content, deleted FROM chat_messages ORDER BY channel, id',
  row: { channel: 'text', id: 'integer', content: 'text', deleted: 'integer' },
})

const recordRows = statement({
  name: 'crash.moderation',
  text: 'SELECT channel_digest, message_id FROM chat_moderation ORDER BY message_id',
  row: { channel_digest: 'bytes', message_id: 'integer' },
})
