import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createPlayer } from '@guildhall/client'
import { type ConsoleClient, createConsoleClient } from '@guildhall/client/console'
import { runExample } from '../run-example.ts'

/** What the players of the shop ask its script. */
type Shop = {
  rpcs: {
    found: { payload: { name: string }; reply: { id: number } }
    join: { payload: { guild: number }; reply: { members: number } }
    buy: { payload: { item: string; order: string }; reply: { replayed: boolean; gold: number } }
    owned: { payload: { item: string }; reply: { order: string; item: string; price: number }[] }
    give: {
      payload: { to: string; amount: number; order: string }
      reply: { gold: number; replayed: boolean }
    }
    say: { payload: { guild: number; text: string }; reply: { id: number } }
  }
  kinds: Record<never, never>
}

type ShopOptions = {
  print?: (line: string) => void
  /** Where the example listens for reports of sales; the node must be allowed to call it. */
  webhookPort?: number
}

/** A player of the shop, with what was pushed to it. */
type Customer = Awaited<ReturnType<typeof enter>>

/**
 * A day in the guild's shop: a player founds a guild and buys from the shop, each purchase once; a
 * friend joins, gets gold and is spoken to; operators find all of it at their console. Every step
 * is asserted.
 *
 * The node needs the script of `game/`, and in its configuration the index `items` over the field
 * `item` of the collection `items`.
 */
export async function shop(
  baseUrl: string,
  { print = () => {}, webhookPort = 7399 }: ShopOptions,
): Promise<void> {
  const reports = await listenForReports(webhookPort)
  try {
    await spendDay(baseUrl, { print, reports })
  } finally {
    await reports.close()
  }
}

type DayOptions = Required<Pick<ShopOptions, 'print'>> & { reports: Reports }

async function spendDay(baseUrl: string, { print, reports }: DayOptions): Promise<void> {
  const client = createConsoleClient(baseUrl)
  await client.signIn({ username: 'admin', password: 'password' })
  const [ana, ben] = [await enter(baseUrl, 'ana'), await enter(baseUrl, 'ben')]
  const day: Day = { client, ana, ben, print, reports }
  await client.storage.put({
    params: { collection: 'settings', key: 'webhook' },
    query: {},
    body: { value: { url: reports.url } },
  })
  const body = { currency: 'gold', delta: 100, reason: 'welcome' }
  await client.wallet.adjust({ params: { id: ana.id }, body })

  const { id: guild } = await ana.game.rpc('found', { name: `Owls ${crypto.randomUUID()}` })
  assert.deepEqual(await ben.game.rpc('join', { guild }), { members: 2 })
  print('a guild is founded, and has two members')
  await buy(day)
  await own(day)
  await give(day)
  await speak(day, guild)
  await look(day)

  await ana.leave()
  const back = await enter(baseUrl, 'ana', ana.device)
  assert.equal((await back.seen(2)).length, 2)
  print('whoever comes back hears what is unread')
  await Promise.all([back.leave(), ben.leave()])
}

/** What every part of the day works with. */
type Day = DayOptions & { client: ConsoleClient; ana: Customer; ben: Customer }

async function buy({ ana, ben, print, reports }: Day): Promise<void> {
  const sword = { item: 'sword', order: 'order-1' }
  const shield = { item: 'shield', order: 'order-2' }
  assert.deepEqual(await ana.game.rpc('buy', sword), { replayed: false, gold: 70 })
  assert.deepEqual(await ana.game.rpc('buy', sword), { replayed: true, gold: 70 })
  assert.deepEqual(await ana.game.rpc('buy', shield), { replayed: false, gold: 50 })
  await assert.rejects(ben.game.rpc('buy', sword), /more than you have/)
  const castle = { item: 'castle', order: 'order-3' }
  await assert.rejects(ana.game.rpc('buy', castle), /does not have that/)
  const bought = await ana.seen(2)
  assert.deepEqual(
    bought.map(({ subject }) => subject),
    ['You own a sword', 'You own a shield'],
  )
  print('a sword and a shield are bought, once each, and the player was notified')
  assert.deepEqual(reports.heard, [
    { order: 'order-1', item: 'sword', price: 30 },
    { order: 'order-2', item: 'shield', price: 20 },
  ])
  print('each sale is reported once')
}

async function own({ client, ana, ben, print }: Day): Promise<void> {
  const sword = { order: 'order-1', item: 'sword', price: 30 }
  assert.deepEqual(await ana.game.rpc('owned', { item: 'sword' }), [sword])
  assert.deepEqual(await ben.game.rpc('owned', { item: 'sword' }), [])
  // Too cheap for the index, but stored.
  assert.deepEqual(await ana.game.rpc('owned', { item: 'shield' }), [])
  const params = { collection: 'items', key: 'order-2' }
  const stored = await client.storage.get({ params, query: { user_id: ana.id } })
  assert.deepEqual(stored.value, { item: 'shield', price: 20 })
  print('what is owned is found by the index')
}

async function give({ client, ana, ben, print }: Day): Promise<void> {
  const gift = { to: ben.id, amount: 20, order: 'gift-1' }
  assert.deepEqual(await ana.game.rpc('give', gift), { gold: 30, replayed: false })
  assert.deepEqual(await ana.game.rpc('give', gift), { gold: 30, replayed: true })
  const more = { ...gift, amount: 31, order: 'gift-2' }
  await assert.rejects(ana.game.rpc('give', more), /more than you have/)
  const wallets = [ana, ben].map(({ id }) => client.wallet.get({ params: { id } }))
  const gold = (await Promise.all(wallets)).map(({ balances }) => Object(balances).gold)
  assert.deepEqual(gold, [30, 20])
  print('gold went to a friend')
}

async function speak({ client, ana, ben, print }: Day, guild: number): Promise<void> {
  await ana.game.rpc('say', { guild, text: 'hello owls' })
  const [said] = await ben.heard(1)
  assert.equal(said?.message?.content, 'hello owls')
  const history = await client.chat.history({ params: { channel: `guild:${guild}` }, query: {} })
  const senders = history.items.map(({ sender }) => sender)
  assert.deepEqual(senders, [ana.id, ana.id])
  print('what was said is kept, and went to the members')
}

async function look({ client, ana, print }: Day): Promise<void> {
  const { ledger } = await client.wallet.get({ params: { id: ana.id } })
  assert.deepEqual(
    ledger.map(({ delta, reason }) => `${delta} ${reason}`),
    ['-20 transfer', '-20 bought shield', '-30 bought sword', '100 welcome'],
  )
  const { entries } = await client.audit.list({ query: { limit: 500 } })
  assert.equal(entries.filter(({ target }) => target === `account ${ana.id}`).length, 1)
  print('the operator finds all of it; only what operators did is in the audit trail')
  await readLogs(client, print)
}

/** Lines are written behind the answer, so they may come a moment later. */
async function readLogs(client: ConsoleClient, print: (line: string) => void): Promise<void> {
  for (;;) {
    const { items, durable } = await client.scriptLogs.list({ query: { tag: 'shop.', limit: 4 } })
    if (!durable) return print('a database in memory keeps no lines')
    if (items.length === 4) return readSales(client, { lines: items, print })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

type Lines = Awaited<ReturnType<ConsoleClient['scriptLogs']['list']>>['items']
type Reading = { lines: Lines; print: (line: string) => void }

async function readSales(client: ConsoleClient, { lines, print }: Reading): Promise<void> {
  assert.deepEqual(
    lines.map(({ level, tag, message }) => `${level} ${tag} ${message}`),
    [
      'debug shop.webhook the sale is reported',
      'info shop.sale sold a shield',
      'debug shop.webhook the sale is reported',
      'info shop.sale sold a sword',
    ],
  )
  const params = { log_id: lines[1]?.log_id ?? '' }
  const { payload_json } = await client.scriptLogs.get({ params, query: {} })
  assert.equal(Object(JSON.parse(payload_json ?? '{}')).order, 'order-2')
  print('every sale is in the log, with its order')
}

/** Signs in, registering where the device is new, and connects. */
async function enter(baseUrl: string, name: string, device = `${name}-${crypto.randomUUID()}`) {
  const player = createPlayer<Shop>(baseUrl)
  const { user_id } = await player.signIn.device({ id: device, create: true, username: device })
  const connection = await player.connect()
  const notices = collected<{ subject: string }>()
  const chat = collected<{ message: { content?: unknown } | null }>()
  connection.on('notification', notices.take)
  connection.on('chat', chat.take)
  return {
    id: user_id,
    device,
    game: connection,
    /** So many notifications, once they have come. */
    seen: notices.atLeast,
    heard: chat.atLeast,
    leave: () => connection.close(),
  }
}

type Reports = Awaited<ReturnType<typeof listenForReports>>

/** A service of the studio that has to know what is sold. */
async function listenForReports(port: number) {
  const heard: unknown[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk)
    heard.push(JSON.parse(body))
    response.writeHead(204).end()
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${port}/sales`,
    heard,
    async close(): Promise<void> {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** What comes, for those who wait for it. */
function collected<T>() {
  const all: T[] = []
  const waiting = new Set<() => void>()
  return {
    take(item: T): void {
      all.push(item)
      for (const look of waiting) look()
    },
    atLeast: (count: number) =>
      new Promise<readonly T[]>((resolve) => {
        const look = () => {
          if (all.length < count) return
          waiting.delete(look)
          resolve(all)
        }
        waiting.add(look)
        look()
      }),
  }
}

if (import.meta.main) {
  await runExample(
    (baseUrl, print) => shop(baseUrl, { print }),
    'npm start -- --config examples/guild-shop/node.toml',
  )
}
