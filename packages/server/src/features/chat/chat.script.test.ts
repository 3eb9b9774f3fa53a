import { hash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

describe.each(testBackends)('chat of scripts on $name', (backend) => {
  let scenario: Scenario
  let call: ScriptCall
  beforeAll(async () => {
    scenario = await openScenario(backend)
    call = scriptOf(scenario.api)
    return () => scenario.dispose()
  })

  it('[S-API-15] is appended, read in pages, and blanked once', async () => {
    const first = await call('chat.append', 'lobby', 'ada', 'hello', { channel_type: 'group' })
    expect(first).toMatchObject({ id: 1, sender: 'ada', content: 'hello', revision: 1 })
    for (const content of ['two', 'three']) await call('chat.append', 'lobby', 'bob', content)
    const page = await call('chat.history', 'lobby', { limit: 2 })
    expect(page).toMatchObject({ items: [{ id: 3 }, { id: 2 }], next: 2 })
    expect(await call('chat.history', 'lobby', { before: 2 })).toEqual({
      items: [first],
      next: null,
    })
    expect(await call('chat.history', 'nowhere')).toEqual({ items: [], next: null })
    const blanked = await call('chat.remove', 'lobby', 1)
    expect(blanked).toMatchObject({ id: 1, content: '', deleted: true, revision: 2 })
    expect(await call('chat.remove', 'lobby', 1)).toEqual(blanked)
    const missing = { code: 'not_found' }
    await expect(call('chat.remove', 'lobby', 9)).rejects.toMatchObject(missing)
    await expect(call('chat.remove', 'nowhere', 1)).rejects.toMatchObject(missing)
    const channels = await scenario.rowsOf('chat_channels')
    expect(channels).toMatchObject([{ channel: 'lobby', channel_type: 'group' }])
  })

  it('[S-API-15] [H-CHT-6] keeps a record of who blanked it', async () => {
    const [record] = await scenario.rowsOf('chat_moderation')
    expect(record).toMatchObject({ actor_kind: 'script', action: 'chat.message.delete' })
    const digest = Buffer.from(Object(record).actor_digest).toString('hex')
    expect(digest).toBe(hash('sha256', 'script'))
    expect(await scenario.countRows('chat_moderation')).toBe(1)
  })

  it('[S-API-15] [R-PSH-3] is pushed where the script asks for it, and only there', async () => {
    const { sent } = scenario.api.players
    expect(sent).toEqual([])
    const row = Object(await call('chat.append', 'lobby', 'ada', 'pushed'))
    await call('chat.push', ['ada', 'bob'], {
      type: 'message.create',
      channel_id: 'lobby',
      message: row,
    })
    const presence = { presence_id: 'p1', user_id: 'ada' }
    const typing = { type: 'typing', channel_id: 'lobby', presence, expires_at: 5 }
    await call('chat.push', ['bob'], typing)
    const nothing = { presence: null, expires_at: null, watermark_event_id: null }
    expect(sent).toEqual([
      {
        to: ['ada', 'bob'],
        kind: 28,
        json: {
          version: 1,
          type: 'message.create',
          channel_id: 'lobby',
          event_id: row.last_event_id,
          message: row,
          ...nothing,
        },
      },
      {
        to: ['bob'],
        kind: 28,
        json: { version: 1, ...typing, event_id: null, message: null, watermark_event_id: null },
      },
    ])
  })

  it('[S-API-15] [S-API-1] refuses an event of another shape', async () => {
    const row = Object(await call('chat.append', 'lobby', 'ada', 'shaped'))
    const presence = { presence_id: 'p1', user_id: 'ada' }
    const gone = { ...row, content: '', deleted: true, revision: 2 }
    const events: object[] = [
      { type: 'message.create' },
      { type: 'message.create', message: { ...row, revision: 2 } },
      {
        type: 'message.create',
        message: { ...row, updated_at_unix_ms: row.created_at_unix_ms + 1 },
      },
      { type: 'message.create', message: row, presence },
      { type: 'message.update', message: row },
      { type: 'message.remove', message: { ...gone, content: 'x' } },
      { type: 'presence.join' },
      { type: 'presence.join', presence, expires_at: 1 },
      { type: 'typing', presence },
      { type: 'access.revoked', message: row },
      { type: 'resync_required' },
      { type: 'resync_required', watermark_event_id: -1 },
      { type: 'message', message: row },
      { message: row },
    ]
    const invalid = { code: 'invalid_request' }
    for (const event of events) {
      const pushed = call('chat.push', ['ada'], { channel_id: 'lobby', ...event })
      await expect(pushed, JSON.stringify(event)).rejects.toMatchObject(invalid)
    }
    const good = { type: 'message.remove', channel_id: 'lobby', message: gone }
    const many = Array.from({ length: 1001 }, (_, at) => `user-${at}`)
    await expect(call('chat.push', many, good)).rejects.toMatchObject(invalid)
    await expect(call('chat.push', 'ada', good)).rejects.toMatchObject(invalid)
    await call('chat.push', many.slice(1), good)
    expect(scenario.api.players.sent.at(-1)?.to).toHaveLength(1000)
  })

  it('[S-API-15] [S-API-1] refuses the arguments that the console refuses', async () => {
    const invalid = { code: 'invalid_request' }
    for (const args of [
      ['lobby', 'ada', ''],
      ['lobby', 'ada', ' '],
      ['lobby', 'ada', 'x'.repeat(2049)],
      ['lobby', 'ada', 'a\u0000'],
      ['lobby', ' ', 'x'],
      ['', 'ada', 'x'],
      ['lobby', 'ada', 'x', { channel_type: 'other' }],
      ['lobby', 'ada', 'x', { other: 1 }],
    ]) {
      await expect(call('chat.append', ...args)).rejects.toMatchObject(invalid)
    }
  })
})
