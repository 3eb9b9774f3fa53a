/// <reference path="../../../packages/server/guildhall.d.ts" />

/** What the shop sells, in pieces of gold. */
const prices: Readonly<Record<string, number>> = { sword: 30, shield: 20, banner: 45 }

/** A player founds a guild, whose channel is open from then on. */
guildhall.on_rpc('found', async (ctx, body) => {
  const user_id = signedIn(ctx.user_id)
  const { name } = asked(body)
  const guild = await guildhall.groups.create({ name, creator_user_id: user_id, max_size: 50 })
  await guildhall.chat.append(channelOf(guild.id), user_id, `${ctx.username} founded ${name}`, {
    channel_type: 'group',
  })
  return { id: guild.id }
})

guildhall.on_rpc('join', async (ctx, body) => {
  const { members } = await guildhall.groups.add_member(asked(body).guild, signedIn(ctx.user_id))
  return { members: members.length }
})

/** What is bought is paid, stored and notified in one transaction; a repeat buys nothing twice. */
guildhall.on_rpc('buy', async (ctx, body) => {
  const user_id = signedIn(ctx.user_id)
  const { item, order } = asked(body)
  const price = prices[item] ?? guildhall.fail('the shop does not have that')
  const ops = [
    { op: 'wallet', user_id, currency: 'gold', delta: -price, reason: `bought ${item}` },
    {
      op: 'write',
      owner: user_id,
      collection: 'items',
      key: order,
      value: { item, price },
      version: '',
      write_permission: 0,
    },
    { op: 'notify', user_id, subject: `You own a ${item}`, content: { order }, push: true },
  ] as const
  const options = { idempotency_key: `buy ${user_id} ${order}` }
  const { replayed } = await guildhall.transact([...ops], options).catch(refusal)
  if (!replayed) {
    guildhall.log.write('info', 'shop.sale', `sold a ${item}`, { user_id, order, price })
    await report({ order, item, price })
  }
  return { replayed, gold: (await guildhall.wallet.get(user_id)).gold }
})

/** A query by the index of items; with `as` it shows what the player may read. */
guildhall.on_rpc('owned', async (ctx, body) => {
  const as = signedIn(ctx.user_id)
  const { items } = await guildhall.storage_index_query('items', { item: asked(body).item }, { as })
  return items.map(({ key, value }) => ({ order: key, ...value }))
})

guildhall.on_rpc('give', async (ctx, body) => {
  const { to, amount, order } = asked(body)
  const from = signedIn(ctx.user_id)
  const options = { idempotency_key: `give ${from} ${order}` }
  const moved = await guildhall.wallet.transfer(from, to, 'gold', amount, options).catch(refusal)
  return { gold: moved.from.balance, replayed: moved.replayed }
})

/** What is said in a guild is kept, and goes to those of its members who are there. */
guildhall.on_rpc('say', async (ctx, body) => {
  const user_id = signedIn(ctx.user_id)
  const { guild, text } = asked(body)
  const group = await guildhall.groups.get(guild)
  const members = group?.members.map((member) => member.user_id) ?? []
  if (!members.includes(user_id)) guildhall.fail('only members speak here')
  const channel_id = channelOf(guild)
  const message = await guildhall.chat.append(channel_id, user_id, text)
  guildhall.chat.push(members, { type: 'message.create', channel_id, message })
  return { id: message.id }
})

/** Whoever was away hears what there was to hear. */
guildhall.on_join(async (ctx) => {
  await guildhall.notifications.push_unread(ctx.sender)
})

/** The shop's cheap goods are not worth finding. */
guildhall.register_storage_index_filter('items', ({ value }) => Number(value.price) > 25)

/** Sales are reported to the address that the operator has stored; without one to nobody. */
async function report(sale: { order: string; item: string; price: number }): Promise<void> {
  const stored = await guildhall.storage_read(null, 'settings', 'webhook')
  if (typeof stored?.value.url !== 'string') return
  try {
    const { status } = await guildhall.http.fetch({
      url: stored.value.url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sale),
    })
    guildhall.log.write('debug', 'shop.webhook', 'the sale is reported', { ...sale, status })
  } catch (error) {
    // What is bought stays bought; the operator reads why nobody heard of it.
    const reason = error instanceof Error && 'reason' in error ? String(error.reason) : 'unknown'
    guildhall.log.write('warn', 'shop.webhook', 'the sale could not be reported', {
      ...sale,
      reason,
    })
  }
}

type Asked = {
  name: string
  guild: number
  item: string
  order: string
  to: string
  amount: number
  text: string
}

/** The players of this example send what its handlers expect; the server checks the rest. */
function asked(body: Uint8Array): Asked {
  return JSON.parse(new TextDecoder().decode(body))
}

function signedIn(user_id: string | null): string {
  return user_id ?? guildhall.fail('guests have no purse')
}

function channelOf(guild: number): string {
  return `guild:${guild}`
}

/** What the player may know of a refusal. */
function refusal(error: unknown): never {
  const isConflict = error instanceof Error && 'code' in error && error.code === 'conflict'
  return guildhall.fail(isConflict ? 'that is more than you have' : 'that did not work')
}
