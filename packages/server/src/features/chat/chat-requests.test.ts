import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { type ChatOperator, messageOf, openChatOperator } from './chat.fixture.ts'

const bytes1024 = '🏯'.repeat(256)
const bytes2048 = 'é'.repeat(1024)

describe.each(testBackends)('requests about chat on $name', (backend) => {
  let scenario: Scenario
  let operator: ChatOperator
  let viewer: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openChatOperator(scenario.api)
    viewer = await openViewer(scenario.api)
    return () => scenario.dispose()
  })

  describe('bounds', () => {
    it('[H-CHT-1] [H-GEN-18] takes every text at its last byte', async () => {
      const said = await operator.say(bytes1024, bytes2048, { sender: bytes1024 })
      expect(said).toMatchObject({ sender: bytes1024, content: bytes2048 })
      expect((await operator.history(bytes1024)).items).toEqual([said])
      const filter = encodeURIComponent(bytes1024)
      expect((await operator.list(`?filter=${filter}`)).items).toHaveLength(1)
      expect((await operator.remove(bytes1024, 1)).status).toBe(204)
    })

    it('[H-CHT-1] takes line ends in the content, and any character but U+0000 elsewhere', async () => {
      const content = '\r\n a \n\u{10ffff}\u00a0'
      const said = await operator.say('tab\there/%2F', content, { sender: '\u0001\u0085' })
      expect(said).toMatchObject({ content, sender: '\u0001\u0085' })
      expect((await operator.history('tab\there/%2F')).items).toEqual([said])
    })

    it.each([
      ['no sender', { content: 'x' }],
      ['no content', { sender: 'x' }],
      ['null for the sender', { sender: null, content: 'x' }],
      ['null for the content', { sender: 'x', content: null }],
      ['a number for the content', { sender: 'x', content: 7 }],
      ['an empty sender', { sender: '', content: 'x' }],
      ['a blank sender', { sender: ' \n', content: 'x' }],
      ['a sender of 1,025 bytes', { sender: `${bytes1024}x`, content: 'x' }],
      ['a sender with U+0000', { sender: 'a\u0000', content: 'x' }],
      ['an empty content', { sender: 'x', content: '' }],
      ['a content of line ends alone', { sender: 'x', content: '\r\n \n' }],
      ['a content of 2,049 bytes', { sender: 'x', content: `${bytes2048}x` }],
      ['a content with U+0000', { sender: 'x', content: 'a\u0000' }],
      ['a content with a tab', { sender: 'x', content: 'a\tb' }],
      ['a content with U+007F', { sender: 'x', content: 'a\u007f' }],
      ['a content with U+0085', { sender: 'x', content: 'a\u0085b' }],
      ['a content with U+009F', { sender: 'x', content: 'a\u009fb' }],
      ['an unknown type', { sender: 'x', content: 'x', channel_type: 'Room' }],
      ['an empty type', { sender: 'x', content: 'x', channel_type: '' }],
      ['an unknown field', { sender: 'x', content: 'x', id: 1 }],
      ['an array', []],
      ['broken JSON', '{"sender":'],
      ['half a surrogate pair', '{"sender":"x","content":"\\ud83c"}'],
    ])('[H-CHT-1] refuses a message with %s', async (_case, body) => {
      const { total } = await operator.list()
      for (const channel of ['made by no refusal', bytes1024]) {
        const before = await operator.history(channel)
        const answer = await operator.append(channel, body)
        expect([answer.status, answer.body]).toMatchObject([400, { code: 'invalid_request' }])
        expect(await operator.history(channel)).toEqual(before)
      }
      expect((await operator.list()).total).toBe(total)
    })

    it.each(['%20', '%09%C2%A0', 'a%00b', encodeURIComponent(`${bytes1024}x`), '%ff'])(
      '[H-CHT-1] refuses the channel %.20s on every route',
      async (channel) => {
        const path = `/chat/${channel}/messages`
        const body = { sender: 'x', content: 'x' }
        expect((await operator.send('POST', path, body)).status).toBe(400)
        expect((await operator.send('GET', path)).status).toBe(400)
        expect((await operator.send('DELETE', `${path}/1`)).status).toBe(400)
      },
    )

    it.each(['9007199254740992', '00000000000000001', '-1', '+1', '1.0', 'a', '%20', '0x1'])(
      '[H-GEN-24] refuses the message id %s',
      async (id) => {
        const answer = await operator.remove('lobby', id)
        expect(answer.status).toBe(400)
      },
    )

    it.each([
      '/chat?unknown=1',
      '/chat?before=1',
      '/chat?offset=0',
      '/chat?limit=',
      '/chat?limit=-1',
      '/chat?filter=a&filter=b',
      '/chat?filter=%00',
      `/chat?filter=${'x'.repeat(1025)}`,
      '/chat/lobby/messages?unknown=1',
      '/chat/lobby/messages?offset=0',
      '/chat/lobby/messages?limit=x',
      '/chat/lobby/messages?before=',
      '/chat/lobby/messages?before=-1',
      '/chat/lobby/messages?before=1.5',
      '/chat/lobby/messages?before=9007199254740992',
      '/chat/lobby/messages?before=1&before=1',
    ])('[H-GEN-25] [H-GEN-26] refuses GET %.40s', async (path) => {
      expect((await operator.send('GET', path)).status).toBe(400)
    })

    it('[H-GEN-26] clamps the limits to their caps', async () => {
      const said = Array.from({ length: 201 }, (_, index) =>
        operator.say('long', `message ${index}`).then(() => undefined),
      )
      await Promise.all(said)
      for (const [limit, length] of [
        ['', 50],
        ['?limit=0', 1],
        ['?limit=200', 200],
        ['?limit=201', 200],
        ['?limit=999999999999999999999', 200],
      ] as const) {
        expect((await operator.history('long', limit)).items).toHaveLength(length)
      }
    })
  })

  describe('order of checks', () => {
    it.each([
      ['POST', '/chat/%20/messages'],
      ['DELETE', '/chat/%20/messages/x'],
    ])('[H-GEN-6] [H-GEN-7] 401, then 403, then 400: %s %s', async (method, path) => {
      const stranger = await scenario.api.call(method, `/console/v1${path}`, { body: '{broken' })
      const looker = await viewer.send(method, path, '{broken')
      const admin = await operator.send(method, path, '{broken')
      expect([stranger.status, looker.status, admin.status]).toEqual([401, 403, 400])
    })

    it('[H-GEN-6] 400 comes before 404', async () => {
      expect((await operator.remove('nowhere', 'x')).status).toBe(400)
      expect((await operator.remove('nowhere', 1)).status).toBe(404)
    })

    it('[H-AUTH-5] a viewer reads what the admin reads', async () => {
      await operator.say('seen', 'by both')
      const answers = await Promise.all([
        viewer.send('GET', '/chat?limit=500'),
        viewer.send('GET', '/chat/seen/messages'),
      ])
      expect(answers.map(({ body }) => body)).toEqual([
        await operator.list('?limit=500'),
        await operator.history('seen'),
      ])
    })
  })

  describe('the same request again', () => {
    it('[H-IDM-3] gets the same answer, and does and records nothing', async () => {
      const key = { 'idempotency-key': 'once' }
      const body = { sender: 'ada', content: 'said once' }
      const first = await operator.append('once', body, key)
      const again = await operator.append('once', body, key)
      expect([again.status, again.text]).toEqual([200, first.text])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
      const other = await operator.append('once', { ...body, content: 'said twice' }, key)
      expect(other.status).toBe(409)
      expect((await operator.history('once')).items).toEqual([messageOf(first)])
      const removed = await operator.remove('once', 1, key)
      const removedAgain = await operator.remove('once', 1, key)
      expect([removed.status, removedAgain.status]).toEqual([204, 204])
      expect(removedAgain.headers.get('idempotency-replayed')).toBe('true')
      expect(await operator.trailOf('once#1')).toEqual([
        ['chat.message.append', 'sender=ada'],
        ['chat.message.delete', 'tombstone'],
      ])
    })

    it('[H-IDM-4] is tried again when it was refused', async () => {
      const key = { 'idempotency-key': 'later' }
      expect((await operator.remove('later', 1, key)).status).toBe(404)
      await operator.say('later', 'now it is there')
      expect((await operator.remove('later', 1, key)).status).toBe(204)
      expect((await operator.history('later')).items[0]?.deleted).toBe(true)
    })
  })
})
