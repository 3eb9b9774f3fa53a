import { beforeAll, describe, expect, it } from 'vitest'
import { testBackends } from '../../database/testing/backends.ts'
import { type Operator, openViewer, viewerKeys } from '../../testing/operator.ts'
import { openScenario, type Scenario } from '../../testing/scenario.ts'
import { openPurchaseOperator, type PurchaseOperator } from './purchases.fixture.ts'

const bytes1024 = '🏯'.repeat(256)
const good = '{"transaction_id":"good","product_id":"p"}'

const brokenBodies: [string, unknown][] = [
  ['no user', { store: 'custom', receipt: good }],
  ['a null user', { user_id: null, store: 'custom', receipt: good }],
  ['a number for a user', { user_id: 1, store: 'custom', receipt: good }],
  ['a user of 1,025 bytes', { user_id: `${bytes1024}x`, store: 'custom', receipt: good }],
  ['a user with U+0000', { user_id: 'a\0', store: 'custom', receipt: good }],
  ['no store', { user_id: 'u', receipt: good }],
  ['an unknown store', { user_id: 'u', store: 'store_d', receipt: good }],
  ['a store in capitals', { user_id: 'u', store: 'Custom', receipt: good }],
  ['a store with a space', { user_id: 'u', store: 'custom ', receipt: good }],
  ['a null store', { user_id: 'u', store: null, receipt: good }],
  ['no receipt', { user_id: 'u', store: 'custom' }],
  ['a null receipt', { user_id: 'u', store: 'custom', receipt: null }],
  ['an object for a receipt', { user_id: 'u', store: 'custom', receipt: JSON.parse(good) }],
  ['a receipt with U+0000', { user_id: 'u', store: 'custom', receipt: `${good}\0` }],
  ['an unknown field', { user_id: 'u', store: 'custom', receipt: good, price: 1 }],
  ['an array', []],
  ['broken JSON', '{"user_id":'],
  ['a repeated field', `{"user_id":"u","store":"custom","store":"custom","receipt":"{}"}`],
]

const brokenReceipts: [string, string, string | undefined][] = [
  ['nothing', '', 'receipt is not valid JSON'],
  ['white space', ' \n', 'receipt is not valid JSON'],
  ['a word', 'receipt', 'receipt is not valid JSON'],
  ['null', 'null', 'receipt must be an object'],
  ['a string', JSON.stringify(good), 'receipt must be an object'],
  ['a number', '7', 'receipt must be an object'],
  ['an array', `[${good}]`, 'receipt must be an object'],
  ['two objects', good + good, 'receipt is more than one JSON value'],
  ['something after it', `${good}x`, 'receipt is more than one JSON value'],
  ['a byte order mark', `\ufeff${good}`, 'receipt is not valid JSON'],
  ['a comment', `/**/${good}`, 'receipt is not valid JSON'],
  ['a trailing comma', good.replace('}', ',}'), 'receipt is not valid JSON'],
  ['single quotes', good.replaceAll('"', "'"), 'receipt is not valid JSON'],
  ['an unknown field', good.replace('}', ',"price":1}'), 'receipt has an unknown field'],
  ['__proto__', good.replace('}', ',"__proto__":{}}'), 'receipt has an unknown field'],
  ['capitals', good.replace('product_id', 'Product_id'), undefined],
  ['no transaction', '{"product_id":"p"}', 'transaction_id must be a string'],
  ['no product', '{"transaction_id":"t"}', 'product_id must be a string'],
  ['nothing in it', '{}', 'transaction_id must be a string'],
  ['a deep value', `{"transaction_id":${'['.repeat(60)}${']'.repeat(60)}}`, undefined],
  ['a depth bomb', '['.repeat(60_000), 'receipt is more than 64 levels deep'],
  ['a hidden depth bomb', `${good.slice(0, -1)},"x":${'{"x":'.repeat(9_000)}`, undefined],
  [
    'a repeated transaction',
    '{"transaction_id":"t","product_id":"p","transaction_id":"t"}',
    'transaction_id is repeated',
  ],
  [
    'a transaction repeated by an escape',
    '{"transaction_id":"t","product_id":"p","transaction\\u005fid":"t"}',
    'transaction_id is repeated',
  ],
  ['an unpaired surrogate', '{"transaction_id":"\\ud800","product_id":"p"}', undefined],
  ['a raw newline', '{"transaction_id":"\n","product_id":"p"}', 'receipt is not valid JSON'],
]

describe.each(testBackends)('requests about purchases on $name', (backend) => {
  let scenario: Scenario
  let operator: PurchaseOperator
  let viewer: Operator
  beforeAll(async () => {
    scenario = await openScenario(backend, viewerKeys)
    operator = await openPurchaseOperator(scenario.api)
    viewer = await openViewer(scenario.api)
    return () => scenario.dispose()
  })

  async function expectRefused(answer: Promise<{ status: number; body: unknown }>, text?: string) {
    const before = await operator.list('?limit=200')
    const { status, body } = await answer
    expect([status, body]).toEqual([
      400,
      { code: 'invalid_request', message: text ?? expect.stringMatching(/^.{8,200}$/) },
    ])
    expect(await operator.list('?limit=200')).toEqual(before)
  }

  it('[H-PUR-1] [H-GEN-21] takes every text at its last byte, and control characters', async () => {
    const said = { transaction_id: bytes1024, product_id: '\u0001'.repeat(1024) }
    const bought = await operator.buy({ ...said, user_id: 'é'.repeat(512) })
    expect(bought).toMatchObject({ ...said, user_id: 'é'.repeat(512) })
    expect((await operator.read(bytes1024)).body).toEqual(bought)
    expect(await operator.list(`?user_id=${encodeURIComponent(bought.user_id)}`)).toEqual([bought])
  })

  it.each(brokenBodies)('[H-PUR-1] refuses %s', async (_case, body) => {
    await expectRefused(operator.post(body))
  })

  it.each(brokenReceipts)(
    '[H-PUR-1] refuses a receipt that is or has %s',
    async (_case, receipt, text) => {
      await expectRefused(operator.present(receipt), text)
    },
  )

  it.each(['transaction_id', 'product_id'])('[H-PUR-1] refuses a wrong %s', async (name) => {
    const said = { transaction_id: 't', product_id: 'p' }
    for (const wrong of [null, 7, true, [], {}, '', ' ', '\t\u2003', `${bytes1024}x`, 'a\0']) {
      await expectRefused(operator.present(JSON.stringify({ ...said, [name]: wrong })))
    }
  })

  it.each([
    '-1',
    '-0.5',
    '1.0',
    '1e3',
    '"1"',
    'true',
    '{}',
    '9007199254740992',
    '9223372036854775808',
    '1e999',
    '01',
    '+1',
    'NaN',
  ])('[H-PUR-1] [H-GEN-15] refuses the expiry %s', async (literal) => {
    const receipt = good.replace('}', `,"subscription_expiry_unix_ms":${literal}}`)
    await expectRefused(operator.present(receipt))
  })

  it('[H-PUR-1] says what is wrong before whether the transaction is known', async () => {
    await operator.buy({ transaction_id: 'known' })
    const known = '{"transaction_id":"known","product_id":"p"}'
    expect((await operator.present(known)).status).toBe(409)
    await expectRefused(operator.present(known.replace('}', ',"x":1}')))
    await expectRefused(operator.post({ user_id: 'u', store: 'nowhere', receipt: known }))
  })

  it.each(['{broken', '[]', '{}'])(
    '[H-GEN-6] [H-GEN-7] 401, then 403, then 400, for the body %s',
    async (body) => {
      const stranger = await scenario.api.call('POST', '/console/v1/purchases', { body })
      expect([stranger.status, stranger.body]).toMatchObject([
        401,
        { code: 'authentication_failed' },
      ])
      const looker = await viewer.send('POST', '/purchases', body)
      expect([looker.status, looker.body]).toMatchObject([403, { code: 'forbidden' }])
      expect((await operator.post(body)).status).toBe(400)
    },
  )

  it('[H-AUTH-5] a viewer reads what the admin reads', async () => {
    const bought = await operator.buy({ subscription_expiry_unix_ms: 3, transaction_id: 'v' })
    expect((await viewer.send('GET', '/purchases/v')).body).toEqual(bought)
    for (const path of ['/purchases', '/subscriptions']) {
      expect((await viewer.send('GET', path)).body).toEqual((await operator.send('GET', path)).body)
    }
  })

  it('[H-GEN-21] [H-GEN-23] finds a purchase by its whole transaction id only', async () => {
    const odd = ['a/b', '%2F', '?', '#', 'a b', '+', 'a\n']
    for (const transaction_id of odd) {
      const bought = await operator.buy({ transaction_id })
      expect((await operator.read(transaction_id)).body).toEqual(bought)
    }
    for (const unknown of ['a', 'A/B', 'a/b ', bytes1024.slice(2), 'é'.repeat(512)]) {
      const answer = await operator.read(unknown)
      expect([answer.status, answer.body]).toMatchObject([404, { code: 'not_found' }])
    }
    for (const wrong of ['%20', '%00', 'a%00', '%ff', '%', `${'x'.repeat(1025)}`]) {
      expect((await operator.send('GET', `/purchases/${wrong}`)).status).toBe(400)
    }
  })

  it.each([
    'unknown=1',
    'limit=',
    'limit=-1',
    'limit=+1',
    'limit=1.0',
    'limit=1&limit=2',
    'user_id=a&user_id=b',
    'user_id=%00',
    `user_id=${'x'.repeat(1025)}`,
    'offset=0',
    'before=1',
  ])('[H-GEN-25] [H-GEN-26] refuses the query %.30s', async (query) => {
    expect((await operator.send('GET', `/purchases?${query}`)).status).toBe(400)
    expect((await operator.send('GET', `/subscriptions?${query}`)).status).toBe(400)
  })
})

describe.each(testBackends)('the size of receipts on $name', (backend) => {
  it.each([1, 43, 60_000])(
    '[H-PUR-1] is bounded by purchases.max_receipt_bytes: %i',
    async (max_receipt_bytes) => {
      const scenario = await openScenario(backend, {
        'purchases.max_receipt_bytes': `${max_receipt_bytes}`,
      })
      const operator = await openPurchaseOperator(scenario.api)
      const said = '{"transaction_id":"é","product_id":"p"}'
      const receiptOf = (bytes: number) => said + ' '.repeat(Math.max(0, bytes - 40))
      const fits = await operator.present(receiptOf(max_receipt_bytes))
      expect(fits.status).toBe(max_receipt_bytes < 40 ? 400 : 201)
      const surplus = await operator.present(receiptOf(max_receipt_bytes + 1))
      expect([surplus.status, surplus.body]).toMatchObject([
        400,
        { message: `receipt must be at most ${max_receipt_bytes} bytes` },
      ])
      await scenario.dispose()
    },
  )

  it('[H-PUR-1] [H-GEN-10] is bounded by the body at last', async () => {
    const scenario = await openScenario(backend)
    const operator = await openPurchaseOperator(scenario.api)
    const bodyOf = (bytes: number) => {
      const body = (spaces: string) =>
        JSON.stringify({ user_id: '', store: 'custom', receipt: good.replace('}', `${spaces}}`) })
      return body(' '.repeat(bytes - body('').length))
    }
    expect((await operator.post(bodyOf(65_537))).status).toBe(400)
    expect((await operator.post(bodyOf(65_536))).status).toBe(201)
    await scenario.dispose()
  })
})
