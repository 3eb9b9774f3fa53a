import { createHash } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { statement } from '../../database/statement.ts'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { dump } from '../../testing/tables.ts'
import { type ChatOperator, openChatOperator } from './chat.fixture.ts'
import { createHistoryPruner } from './chat.jobs.ts'

const day = 86_400_000

const forgetLastMessage = statement({
  name: 'tests.forget-last-message',
  text: 'UPDATE chat_channels SET messages = messages - 1 WHERE channel = :channel',
  params: { channel: 'text' },
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const hexOf = (value: unknown) => Buffer.from(value as Uint8Array).toString('hex')

describe.each(testBackends)('chat on $name', (backend) => {
  let scenario: Scenario
  let operator: ChatOperator
  beforeEach(async () => {
    scenario = await openScenario(backend, { 'chat.history_limit': '5' })
    operator = await openChatOperator(scenario.api)
    return () => scenario.dispose()
  })

  describe('a message', () => {
    it('[H-CHT-2] [H-CHT-3] is answered whole, with its number and event', async () => {
      const now = scenario.clock.nowUnixMs()
      const body = { sender: 'nobody in particular', content: 'hello\r\nthere' }
      const answer = await operator.append('lobby', body)
      const expected = {
        id: 1,
        ...body,
        created_at_unix_ms: now,
        updated_at_unix_ms: now,
        revision: 1,
        last_event_id: 1,
        deleted: false,
      }
      expect([answer.status, answer.body]).toEqual([200, expected])
      await scenario.clock.advance(7)
      const second = await operator.say('lobby', 'again')
      expect(second).toMatchObject({ id: 2, last_event_id: 2, created_at_unix_ms: now + 7 })
      expect(await operator.history('lobby')).toEqual({
        channel: 'lobby',
        items: [second, expected],
      })
      expect((await operator.say('elsewhere', 'first here')).id).toBe(1)
    })

    it('[H-CHT-1] fixes the type of its channel when it is the first; later ones change nothing', async () => {
      await operator.say('plain', 'x')
      await operator.say('by null', 'x', { channel_type: null })
      for (const channel_type of ['room', 'group', 'direct']) {
        await operator.say(channel_type, 'x', { channel_type })
        await operator.say(channel_type, 'x', { channel_type: 'room' })
        await operator.say(channel_type, 'x', { channel_type: 'direct' })
        await operator.say(channel_type, 'x')
      }
      const refused = await operator.append('plain', {
        sender: 'a',
        content: 'x',
        channel_type: 'no',
      })
      expect(refused.status).toBe(400)
      const { items } = await operator.list()
      const types = items.map(({ channel, channel_type }) => [channel, channel_type]).sort()
      expect(types).toEqual([
        ['by null', 'room'],
        ['direct', 'direct'],
        ['group', 'group'],
        ['plain', 'room'],
        ['room', 'room'],
      ])
    })

    it('[H-CHT-7] is audited by number and sender, never by its content', async () => {
      const secret = 'what nobody else should read'
      await operator.say('a/b #1', secret, { sender: 'ada\nlovelace' })
      await operator.remove('a/b #1', 1)
      expect(await operator.trailOf('a/b #1#1')).toEqual([
        ['chat.message.append', 'sender=ada?lovelace'],
        ['chat.message.delete', 'tombstone'],
      ])
      const trail = await operator.send('GET', '/audit?limit=500')
      expect(trail.text).not.toContain(secret)
      expect(await dump(scenario.db)).not.toContain(secret)
    })

    it('[O-TX-1] that cannot be kept leaves nothing, and the next one takes its number', async () => {
      await operator.say('lobby', 'one')
      // The next number is that of a message which is there already, so the insert must fail.
      await scenario.db.run(forgetLastMessage, { channel: 'lobby' })
      const before = await scenario.rowsOf('chat_channels')
      await scenario.clock.advance(5)
      expect((await operator.append('lobby', { sender: 'a', content: 'lost' })).status).toBe(500)
      expect(await scenario.rowsOf('chat_channels')).toEqual(before)
      expect(await operator.trailOf('lobby#1')).toHaveLength(1)
      expect((await operator.history('lobby')).items.map(({ content }) => content)).toEqual(['one'])
    })
  })

  describe('the history', () => {
    it('[H-CHT-5] is newest first; next is there exactly when the page is full', async () => {
      for (const content of ['1', '2', '3', '4', '5']) await operator.say('lobby', content)
      const page = async (query: string) => {
        const { items, next } = await operator.history('lobby', query)
        return [items.map(({ id }) => id), next]
      }
      expect(await page('')).toEqual([[5, 4, 3, 2, 1], undefined])
      expect(await page('?limit=6')).toEqual([[5, 4, 3, 2, 1], undefined])
      expect(await page('?limit=5')).toEqual([[5, 4, 3, 2, 1], 1])
      expect(await page('?limit=2')).toEqual([[5, 4], 4])
      expect(await page('?limit=2&before=4')).toEqual([[3, 2], 2])
      expect(await page('?limit=2&before=2')).toEqual([[1], undefined])
      expect(await page('?limit=1&before=2')).toEqual([[1], 1])
      expect(await page('?limit=0')).toEqual([[5], 5])
      for (const before of [0, 1]) expect(await page(`?before=${before}`)).toEqual([[], undefined])
      expect(await page('?before=9007199254740991&limit=1')).toEqual([[5], 5])
    })

    it('[H-CHT-5] of an unknown channel is an empty page', async () => {
      expect(await operator.history('never heard of')).toEqual({
        channel: 'never heard of',
        items: [],
      })
      expect((await operator.list()).total).toBe(0)
    })

    it('[O-DB-3] keeps the newest messages of each channel, and drops the others at once', async () => {
      for (let count = 1; count <= 8; count += 1) await operator.say('busy', String(count))
      await operator.say('quiet', 'still here')
      expect((await operator.history('busy')).items.map(({ id }) => id)).toEqual([8, 7, 6, 5, 4])
      expect(await scenario.countRows('chat_messages')).toBe(6)
      expect(await operator.history('busy', '?before=4')).toEqual({ channel: 'busy', items: [] })
      const [busy] = (await operator.list('?filter=busy')).items
      expect(busy?.messages).toBe(8)
    })

    it('[O-DB-3] loses nothing to what another channel drops', async () => {
      for (const channel of ['a', 'b', 'c']) await operator.say(channel, 'kept')
      for (let id = 1; id <= 7; id += 1) await operator.say('busy', String(id))
      for (const channel of ['a', 'b', 'c']) {
        expect((await operator.history(channel)).items).toMatchObject([{ id: 1, content: 'kept' }])
      }
    })

    it('[O-DB-3] drops all that a lowered limit leaves over with the next message', async () => {
      for (let count = 1; count <= 5; count += 1) await operator.say('busy', String(count))
      const tighter = await scenario.openNode({ 'chat.history_limit': '2' })
      await (await openChatOperator(tighter)).say('busy', '6')
      expect((await operator.history('busy')).items.map(({ id }) => id)).toEqual([6, 5])
    })

    it('[O-RET-1] [O-DOC-1] is cut to a lowered limit also where nobody writes any more', async () => {
      const channels = ['a', 'b', 'c', 'd']
      for (const channel of channels) {
        for (let count = 1; count <= 4; count += 1) await operator.say(channel, String(count))
      }
      await operator.remove('c', 4)
      const prune = createHistoryPruner(scenario.db, 2, 3)
      const sizes = async () => {
        const histories = await Promise.all(channels.map((channel) => operator.history(channel)))
        return histories.map(({ items }) => items.length)
      }
      expect(await prune(3)).toBe(3)
      expect((await sizes()).reduce((sum, size) => sum + size)).toBe(13)
      expect(await prune(100)).toBe(5)
      expect(await sizes()).toEqual([2, 2, 2, 2])
      expect((await operator.history('c')).items.map(({ id }) => id)).toEqual([4, 3])
      expect(await prune(100)).toBe(0)
      const node = await scenario.openNode({ 'chat.history_limit': '1' })
      expect(await node.pruner('chat_messages')(100)).toBe(4)
      expect((await operator.say('a', '5')).id).toBe(5)
    })
  })

  describe('deleting', () => {
    it('[H-CHT-3] [H-CHT-5] blanks the message, which stays', async () => {
      await operator.say('lobby', 'fine')
      const said = await operator.say('lobby', 'not fine', { sender: 'bob' })
      await operator.say('lobby', 'fine too')
      await scenario.clock.advance(50)
      const answer = await operator.remove('lobby', 2)
      expect([answer.status, answer.text]).toEqual([204, ''])
      const { items } = await operator.history('lobby')
      expect(items.map(({ content }) => content)).toEqual(['fine too', '', 'fine'])
      expect(items[1]).toEqual({
        ...said,
        content: '',
        deleted: true,
        revision: 2,
        last_event_id: 4,
        updated_at_unix_ms: scenario.clock.nowUnixMs(),
      })
      expect(await operator.say('lobby', 'next')).toMatchObject({ id: 4, last_event_id: 5 })
    })

    it('[H-CHT-6] again is audited and changes nothing else', async () => {
      await operator.say('lobby', 'x')
      await operator.remove('lobby', 1)
      const [messages, channels] = [
        await scenario.rowsOf('chat_messages'),
        await scenario.rowsOf('chat_channels'),
      ]
      await scenario.clock.advance(5)
      for (let round = 0; round < 2; round += 1) {
        expect((await operator.remove('lobby', 1)).status).toBe(204)
      }
      expect(await scenario.rowsOf('chat_messages')).toEqual(messages)
      expect(await scenario.rowsOf('chat_channels')).toEqual(channels)
      expect(await scenario.countRows('chat_moderation')).toBe(1)
      const trail = await operator.trailOf('lobby#1')
      expect(trail.filter(([action]) => action === 'chat.message.delete')).toHaveLength(3)
    })

    it('[H-CHT-6] leaves one record that names nobody', async () => {
      await operator.say('the lobby', 'x', { sender: 'bob the rude' })
      await scenario.clock.advance(5)
      await operator.remove('the lobby', 1)
      const [record, ...others] = await scenario.rowsOf('chat_moderation')
      expect(others).toEqual([])
      expect(record).toMatchObject({
        time_unix_ms: BigInt(scenario.clock.nowUnixMs()),
        actor_kind: 'human',
        action: 'chat.message.delete',
        message_id: 1n,
        node_id: 'dev-1',
      })
      const digests = ['actor', 'channel', 'author'].map((of) => hexOf(record?.[`${of}_digest`]))
      expect(digests).toEqual([sha256('admin'), sha256('the lobby'), sha256('bob the rude')])
      const texts = Object.values(record ?? {}).filter((value) => typeof value === 'string')
      expect(texts.join()).not.toMatch(/admin|lobby|rude/)
    })

    it('[H-CHT-6] is 404 for an evicted message, an unknown one, and an unknown channel', async () => {
      for (let count = 1; count <= 6; count += 1) await operator.say('lobby', String(count))
      for (const id of ['1', '0', '7', '9007199254740991']) {
        const answer = await operator.remove('lobby', id)
        expect([answer.status, answer.body]).toMatchObject([404, { code: 'not_found' }])
      }
      expect((await operator.remove('Lobby', 2)).status).toBe(404)
      expect(await scenario.countRows('chat_moderation')).toBe(0)
      expect((await operator.remove('lobby', 2)).status).toBe(204)
      expect(await operator.trailOf('lobby#7')).toEqual([])
    })

    it('[H-CHT-4] moves neither the activity nor the count of its channel', async () => {
      await operator.say('lobby', 'x')
      const before = await operator.list()
      await scenario.clock.advance(1000)
      await operator.remove('lobby', 1)
      expect(await operator.list()).toEqual(before)
    })

    it('[O-RET-1] its record goes after the retention of the audit trail', async () => {
      const prune = scenario.api.pruner('chat_moderation')
      for (const content of ['a', 'b', 'c']) {
        const { id } = await operator.say('lobby', content)
        await operator.remove('lobby', id)
        await scenario.clock.advance(1000)
      }
      await scenario.clock.advance(365 * day - 3000)
      expect(await prune?.(10)).toBe(0)
      await scenario.clock.advance(2000)
      expect(await prune?.(1)).toBe(1)
      expect(await prune?.(10)).toBe(1)
      const left = await scenario.rowsOf('chat_moderation')
      expect(left.map(({ message_id }) => message_id)).toEqual([3n])
    })
  })

  it.runIf(backend.name !== 'in-memory')(
    '[O-DB-3] [O-ID-1] everything survives a restart, and numbers go on where they were',
    async () => {
      for (let count = 1; count <= 6; count += 1) await operator.say('lobby', String(count))
      await operator.remove('lobby', 6)
      const [list, history] = [await operator.list(), await operator.history('lobby')]
      await scenario.restart()
      const later = await openChatOperator(scenario.api)
      expect(await later.list()).toEqual(list)
      expect(await later.history('lobby')).toEqual(history)
      expect(await later.say('lobby', 'later')).toMatchObject({ id: 7, last_event_id: 8 })
    },
  )
})

describe.each(testBackends)('the list of channels on $name', (backend) => {
  let scenario: Scenario
  let operator: ChatOperator
  const channels = ['50%', '50x', 'a_b', 'axb', 'Äda', 'äda', '🏰🏯', 'guild/7']
  beforeAll(async () => {
    scenario = await openScenario(backend)
    operator = await openChatOperator(scenario.api)
    for (const channel of channels) {
      await operator.say(channel, 'x')
      await scenario.clock.advance(1)
    }
    return () => scenario.dispose()
  })
  const names = async (query = '') =>
    (await operator.list(query)).items.map(({ channel }) => channel)

  it('[H-CHT-4] is by the last message, newest first, and by the bytes of the id within one', async () => {
    expect(await names()).toEqual([...channels].reverse())
    await scenario.clock.advance(1)
    for (const channel of ['axb', 'Zed', 'a_b', '50%', 'äda']) await operator.say(channel, 'now')
    expect((await names()).slice(0, 5)).toEqual(['50%', 'Zed', 'a_b', 'axb', 'äda'])
    const [first] = (await operator.list('?limit=1')).items
    expect(first).toEqual({
      channel: '50%',
      channel_type: 'room',
      messages: 2,
      last_activity_unix_ms: scenario.clock.nowUnixMs(),
    })
  })

  it('[H-CHT-4] counts all channels, before filter and limit', async () => {
    const { total } = await operator.list()
    expect(total).toBe(await scenario.countRows('chat_channels'))
    expect(await operator.list('?limit=1')).toMatchObject({ total, items: { length: 1 } })
    expect(await operator.list('?limit=0')).toMatchObject({ total, items: { length: 1 } })
    expect(await operator.list('?filter=none')).toEqual({ items: [], total })
  })

  it('[H-GEN-22] filters by a substring of the id, letter by letter', async () => {
    for (const channel of channels) {
      expect(await names(`?filter=${encodeURIComponent(channel)}`)).toEqual([channel])
    }
    expect((await names('?filter=50')).sort()).toEqual(['50%', '50x'])
    for (const none of ['GUILD', '__', '%%', '*', '\\']) {
      expect(await names(`?filter=${encodeURIComponent(none)}`)).toEqual([])
    }
    expect(await names('?filter=')).toEqual(await names())
  })
})
