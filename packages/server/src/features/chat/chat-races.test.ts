import type { ChatMessage } from '@guildhall/contract'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ChatOperator, messageOf, openChatOperator } from './chat.fixture.ts'

const historyLimit = 4
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b)

describe.each(testBackends)('a channel under many hands on $name', (backend) => {
  let scenario: Scenario
  /** The admin at two nodes. */
  let operators: [ChatOperator, ChatOperator]
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'chat.history_limit': '40' })
    const other = await scenario.openNode({ 'server.node_id': 'dev-2' })
    operators = [await openChatOperator(scenario.api), await openChatOperator(other)]
    return () => scenario.dispose()
  })
  const operatorOf = (index: number) => operators[index % 2 === 0 ? 0 : 1]

  it('[H-CHT-3] fifty first messages at once make one channel, numbered without gap or repeat', async () => {
    const { total } = await operatorOf(0).list()
    const types = ['room', 'group', 'direct'] as const
    const said = await Promise.all(
      upTo(50).map((number) =>
        operatorOf(number).say('new', `message ${number}`, { channel_type: types[number % 3] }),
      ),
    )
    expect(sorted(said.map(({ id }) => id))).toEqual(upTo(50))
    expect(said.map(({ id, last_event_id }) => id === last_event_id)).not.toContain(false)
    const list = await operatorOf(1).list('?filter=new')
    expect([list.total, list.items.length, list.items[0]?.messages]).toEqual([total + 1, 1, 50])
    const { items } = await operatorOf(0).history('new', '?limit=200')
    expect(items.map(({ id }) => id)).toEqual(upTo(50).slice(10).reverse())
    const byId = new Map(said.map((message) => [message.id, message]))
    expect(items).toEqual(items.map(({ id }) => byId.get(id)))
  })

  it('[H-CHT-3] many channels at once keep their numbers apart', async () => {
    const { total } = await operatorOf(0).list()
    const said = await Promise.all(
      upTo(40).map((number) => operatorOf(number).say(`apart ${number % 4}`, 'x')),
    )
    expect(sorted(said.map(({ id }) => id))).toEqual(upTo(40).map((n) => Math.ceil(n / 4)))
    expect((await operatorOf(1).list()).total).toBe(total + 4)
  })

  it('[H-CHT-6] of many deletes at once one blanks and leaves the record', async () => {
    await operatorOf(0).say('rude', 'x')
    const before = await scenario.countRows('chat_moderation')
    const answers = await Promise.all(upTo(16).map((n) => operatorOf(n).remove('rude', 1)))
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(204))
    expect(await scenario.countRows('chat_moderation')).toBe(before + 1)
    const [message] = (await operatorOf(0).history('rude')).items
    expect(message).toMatchObject({ deleted: true, revision: 2, last_event_id: 2 })
    expect(await operatorOf(1).say('rude', 'next')).toMatchObject({ id: 2, last_event_id: 3 })
  })

  it('[H-CHT-3] [H-CHT-6] appends, deletes and evictions at once end each in its place', async () => {
    for (const number of upTo(40)) await operatorOf(0).say('mixed', String(number))
    const work = upTo(20).flatMap((number) => [
      operatorOf(number).append('mixed', { sender: 'a', content: 'more' }),
      operatorOf(number + 1).remove('mixed', number * 2),
    ])
    const answers = await Promise.all(work)
    const said = answers.filter(({ status }) => status === 200).map(messageOf)
    expect(sorted(said.map(({ id }) => id))).toEqual(upTo(60).slice(40))
    // What was evicted before its delete came is unknown; all others are blanked.
    const blanked = answers.filter(({ status }) => status === 204).length
    const unknown = answers.filter(({ status }) => status === 404).length
    expect(blanked + unknown).toBe(20)
    expect(blanked).toBeGreaterThanOrEqual(10)
    const { items } = await operatorOf(0).history('mixed', '?limit=200')
    expect(items.map(({ id }) => id)).toEqual(upTo(60).slice(20).reverse())
    const deleted = items.filter((item) => item.deleted).map(({ id }) => id)
    expect(deleted).toEqual(
      upTo(40)
        .filter((id) => id > 20 && id % 2 === 0)
        .reverse(),
    )
    const [channel] = await scenario.rowsOf('chat_channels', `channel = 'mixed'`)
    expect(Number(channel?.events)).toBe(60 + blanked)
    const events = items.map(({ last_event_id }) => last_event_id)
    expect(new Set(events).size).toBe(events.length)
  })
})

/** A channel in a few lines. */
class Model {
  readonly messages: ChatMessage[] = []
  last = 0
  events = 0
  blanked = 0
  activityUnixMs = 0

  append(content: string, nowUnixMs: number): ChatMessage {
    this.last += 1
    this.events += 1
    this.activityUnixMs = nowUnixMs
    const message = {
      id: this.last,
      sender: 'ada',
      content,
      created_at_unix_ms: nowUnixMs,
      updated_at_unix_ms: nowUnixMs,
      revision: 1,
      last_event_id: this.events,
      deleted: false,
    }
    this.messages.unshift(message)
    this.messages.splice(historyLimit)
    return message
  }

  remove(id: number, nowUnixMs: number): number {
    const at = this.messages.findIndex((message) => message.id === id)
    const message = this.messages[at]
    if (message === undefined) return 404
    if (message.deleted) return 204
    this.events += 1
    this.blanked += 1
    this.messages[at] = {
      ...message,
      content: '',
      deleted: true,
      revision: 2,
      last_event_id: this.events,
      updated_at_unix_ms: nowUnixMs,
    }
    return 204
  }

  page(limit: number, before = Number.MAX_SAFE_INTEGER) {
    const items = this.messages.filter(({ id }) => id < before).slice(0, limit)
    return { items, next: items.length === limit ? items.at(-1)?.id : undefined }
  }
}

describe.each(testBackends)('a channel beside its model on $name', (backend) => {
  let scenario: Scenario
  let operator: ChatOperator
  let channels = 0
  beforeAll(async () => {
    scenario = await openScenario(backend, { 'chat.history_limit': String(historyLimit) })
    operator = await openChatOperator(scenario.api)
    return () => scenario.dispose()
  })

  it('[H-CHT-2..6] answers and shows the same after every request', async () => {
    const deed = fc.oneof(
      fc.record({ do: fc.constant('say' as const), content: fc.constantFrom('x', 'yy', '🏯') }),
      fc.record({ do: fc.constant('remove' as const), id: fc.nat(10) }),
      fc.record({
        do: fc.constant('read' as const),
        limit: fc.integer({ min: 1, max: 6 }),
        before: fc.option(fc.nat(12), { nil: undefined }),
      }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.nat(100) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 24 }), async (deeds) => {
        channels += 1
        const channel = `channel ${channels}`
        const model = new Model()
        const recorded = await scenario.countRows('chat_moderation')
        for (const what of deeds) {
          const now = scenario.clock.nowUnixMs()
          if (what.do === 'say') {
            const expected = model.append(what.content, now)
            expect(await operator.say(channel, what.content)).toEqual(expected)
          } else if (what.do === 'remove') {
            const { status } = await operator.remove(channel, what.id)
            expect(status).toBe(model.remove(what.id, now))
          } else if (what.do === 'read') {
            const { limit, before } = what
            const query = `?limit=${limit}${before === undefined ? '' : `&before=${before}`}`
            const page = await operator.history(channel, query)
            expect(page).toEqual({ channel, ...model.page(limit, before) })
          } else await scenario.clock.advance(what.ms)
        }
        expect((await operator.history(channel)).items).toEqual(model.messages)
        expect(await scenario.countRows('chat_moderation')).toBe(recorded + model.blanked)
        const listed = (await operator.list('?limit=500')).items.find(
          (one) => one.channel === channel,
        )
        expect(listed?.messages ?? 0).toBe(model.last)
        expect(listed?.last_activity_unix_ms ?? 0).toBe(model.activityUnixMs)
      }),
      { numRuns: 12 },
    )
  })
})
