import assert from 'node:assert/strict'
import { createPlayer } from '@guildhall/client'
import { createConsoleClient } from '@guildhall/client/console'

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

type ShopOptions = { print?: (line: string) => void }

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
export async function shop(baseUrl: string, { print = () => {} }: ShopOptions): Promise<void> {
  const desk = createConsoleClient(baseUrl)
  await desk.signIn({ username: 'admin', password: 'password' })
  const [ana, ben] = [await enter(baseUrl, 'ana'), await enter(baseUrl, 'ben')]
  const goldOf = async ({ id }: Customer) => {
    const { balances } = await desk.wallet.get({ params: { id } })
    return Object(balances).gold
  }
  const body = { currency: 'gold', delta: 100, reason: 'welcome' }
  await desk.wallet.adjust({ params: { id: ana.id }, body })

  const { id: guild } = await ana.game.rpc('found', { name: `Owls ${crypto.randomUUID()}` })
  assert.deepEqual(await ben.game.rpc('join', { guild }), { members: 2 })
  print('a guild is founded, and has two members')

  const order = 'order-1'
  assert.deepEqual(await ana.game.rpc('buy', { item: 'sword', order }), {
    replayed: false,
    gold: 70,
  })
  assert.deepEqual(await ana.game.rpc('buy', { item: 'sword', order }), {
    replayed: true,
    gold: 70,
  })
  assert.deepEqual(await ana.game.rpc('buy', { item: 'shield', order: 'order-2' }), {
    replayed: false,
    gold: 50,
  })
  await assert.rejects(ben.game.rpc('buy', { item: 'sword', order }), /more than you have/)
  await assert.rejects(
    ana.game.rpc('buy', { item: 'castle', order: 'order-3' }),
    /does not have that/,
  )
  assert.deepEqual(await ana.game.rpc('owned', { item: 'sword' }), [
    { order, item: 'sword', price: 30 },
  ])
  // Too cheap for the index, but stored.
  assert.deepEqual(await ana.game.rpc('owned', { item: 'shield' }), [])
  assert.deepEqual(await ben.game.rpc('owned', { item: 'sword' }), [])
  const params = { collection: 'items', key: 'order-2' }
  const stored = await desk.storage.get({ params, query: { user_id: ana.id } })
  assert.deepEqual(stored.value, { item: 'shield', price: 20 })
  const bought = await ana.told(2)
  assert.deepEqual(
    bought.map(({ subject }) => subject),
    ['You own a sword', 'You own a shield'],
  )
  print('a sword and a shield are bought, once each, and the player was told')

  const gift = { to: ben.id, amount: 20, order: 'gift-1' }
  assert.deepEqual(await ana.game.rpc('give', gift), { gold: 30, replayed: false })
  assert.deepEqual(await ana.game.rpc('give', gift), { gold: 30, replayed: true })
  await assert.rejects(ana.game.rpc('give', { ...gift, amount: 31, order: 'gift-2' }), /more than/)
  assert.deepEqual([await goldOf(ana), await goldOf(ben)], [30, 20])
  print('gold went to a friend')

  await ana.game.rpc('say', { guild, text: 'hello owls' })
  const [said] = await ben.heard(1)
  assert.equal(said?.message?.content, 'hello owls')
  const history = await desk.chat.history({ params: { channel: `guild:${guild}` }, query: {} })
  assert.deepEqual(
    history.items.map(({ sender }) => sender),
    [ana.id, ana.id],
  )
  print('what was said is kept, and went to the members')

  const ledger = (await desk.wallet.get({ params: { id: ana.id } })).ledger
  assert.deepEqual(
    ledger.map(({ delta, reason }) => `${delta} ${reason}`),
    ['-20 transfer', '-20 bought shield', '-30 bought sword', '100 welcome'],
  )
  const { entries } = await desk.audit.list({ query: { limit: 500 } })
  assert.equal(entries.filter(({ target }) => target === `account ${ana.id}`).length, 1)
  print('the operator finds all of it; only what operators did is in the audit trail')

  await ana.leave()
  const back = await enter(baseUrl, 'ana', ana.device)
  assert.equal((await back.told(2)).length, 2)
  print('whoever comes back hears what is unread')
  await Promise.all([back.leave(), ben.leave()])
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
    told: notices.atLeast,
    heard: chat.atLeast,
    leave: () => connection.close(),
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
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  await shop(process.argv[2] ?? 'http://127.0.0.1:7350', { print })
}
