import type { ConsoleClient } from '@guildhall/client/console'
import { int64Max, int64Min } from '@guildhall/contract'

/** The name that a browser must only ever show. */
export const hostileName = '<img src=x onerror=alert(1)>"\'&lt;'
/** It would turn round what stands behind it. */
export const turningName = 'abc\u202Edef'

const dayMs = 86_400_000
const firstNames = 'ana ben cem dora emil fay gus hana ivo june kai lena mia nora otto pia'.split(
  ' ',
)

/** What the seed made, by the names that tests use. */
export type Seeded = { accounts: Record<string, string>; group: number }

/** Fills a node with a little of everything, through the console as an operator would. */
export async function seed(client: ConsoleClient, nowMs: number): Promise<Seeded> {
  const accounts = await seedAccounts(client)
  const group = await seedCommunity(client, accounts)
  await seedGameData(client, accounts)
  await seedContests(client, accounts, nowMs)
  await seedShop(client, accounts, nowMs)
  await client.apiKeys.create({ body: { name: 'monitoring', scopes: ['telemetry:read'] } })
  return { accounts, group }
}

async function seedAccounts(client: ConsoleClient): Promise<Record<string, string>> {
  const accounts: Record<string, string> = {}
  for (const username of [...firstNames, hostileName, turningName]) {
    const metadata = { level: username.length, seen: int64Max, tags: ['beta', username] }
    const { id } = await client.consoleAccounts.create({ body: { username, metadata } })
    accounts[username] = id
  }
  const ana = { id: accounts.ana ?? '' }
  await client.consoleAccounts.update({ params: ana, body: { display_name: 'Ana the Bold' } })
  await client.consoleAccounts.ban({ params: { id: accounts.gus ?? '' } })
  await client.consoleAccounts.delete({ params: { id: accounts.otto ?? '' } })
  await client.wallet.adjust({ params: ana, body: { currency: 'gems', delta: int64Max } })
  await client.wallet.adjust({
    params: ana,
    body: { currency: 'gold', delta: 250, reason: 'first purchase' },
  })
  const gift = { currency: 'gold', delta: -75, reason: `a gift for ${accounts.ben}` }
  await client.wallet.adjust({ params: ana, body: gift })
  for (const name of ['ben', 'cem', 'dora']) {
    await client.friends.add({ params: ana, body: { user_id: accounts[name] ?? '' } })
  }
  await client.friends.add({ params: { id: accounts.ben ?? '' }, body: { user_id: ana.id } })
  return accounts
}

async function seedCommunity(client: ConsoleClient, accounts: Record<string, string>) {
  const founder = { creator_user_id: accounts.ana }
  const { id } = await client.groups.create({
    body: { name: 'Red Team', description: 'The first guild', max_size: 20, ...founder },
  })
  for (const name of ['ben', 'cem', 'fay']) {
    await client.groups.addMember({ params: { id }, body: { user_id: accounts[name] ?? '' } })
  }
  await client.groups.promote({ params: { id, user_id: accounts.ben ?? '' } })
  await client.groups.create({ body: { name: 'Blue Team', open: false } })
  await client.groups.create({ body: { name: '<b>Bold Team</b>', description: turningName } })
  const words = [
    ...['hello there', `anyone for a round? ask ${accounts.emil}`],
    ...['buy cheap gems!!!', '<script>1</script>'],
  ]
  for (const [index, content] of words.entries()) {
    const sender = accounts[firstNames[index] ?? ''] ?? ''
    await client.chat.append({ params: { channel: 'lobby' }, body: { sender, content } })
  }
  await client.chat.delete({ params: { channel: 'lobby', id: 3 } })
  const [dora = '', emil = ''] = [accounts.dora, accounts.emil]
  const secret = { sender: dora, content: 'a word between us', channel_type: 'direct' as const }
  await client.chat.append({ params: { channel: `direct/${dora}/${emil}` }, body: secret })
  const guild = {
    sender: accounts.ana ?? '',
    content: 'raid at nine',
    channel_type: 'group' as const,
  }
  await client.chat.append({ params: { channel: 'guild/red' }, body: guild })
  await client.notifications.send({ body: { subject: 'Maintenance at noon', code: 3 } })
  await client.notifications.send({
    body: {
      user_id: accounts.ana,
      subject: `Welcome, from ${accounts.ben}`,
      content: { gift: 100, of: int64Min },
    },
  })
  return id
}

async function seedGameData(
  client: ConsoleClient,
  accounts: Record<string, string>,
): Promise<void> {
  const ben = accounts.ben ?? ''
  const value = {
    level: 3,
    seed: int64Max,
    inventory: [{ item: 'sword', count: 1 }],
    of: ben,
    from: `found by ${ben}`,
  }
  for (const key of ['slot-1', 'slot-2', 'slot/3', ben]) {
    const query = { user_id: accounts.ana }
    await client.storage.put({ params: { collection: 'saves', key }, query, body: { value } })
  }
  const limits = { value: { max_party: 4, season: 7, doubled: false } }
  const params = { collection: 'settings', key: 'season' }
  await client.storage.put({ params, query: {}, body: limits })
}

async function seedContests(
  client: ConsoleClient,
  accounts: Record<string, string>,
  nowMs: number,
) {
  await client.leaderboards.create({ body: { id: 'weekly', reset_schedule: '0 6 * * mon' } })
  await client.leaderboards.create({ body: { id: 'sprint', sort: 'asc', operator: 'best' } })
  await client.leaderboards.create({ body: { id: 'odd', reset_schedule: 'when the moon is full' } })
  for (const [index, user_id] of Object.values(accounts).entries()) {
    const body = { user_id, score: BigInt(1000 * index), subscore: index }
    await client.leaderboards.submit({ params: { id: 'weekly' }, body })
  }
  const ends = { user_id: 'the-last', score: int64Min, metadata: { car: 'red' } }
  await client.leaderboards.submit({ params: { id: 'weekly' }, body: ends })
  const best = { user_id: 'the-first', score: int64Max }
  await client.leaderboards.submit({ params: { id: 'weekly' }, body: best })
  const times = {
    registration_opens_at_unix_ms: nowMs - dayMs,
    registration_closes_at_unix_ms: nowMs + dayMs,
    starts_at_unix_ms: nowMs + dayMs,
    ends_at_unix_ms: nowMs + 3 * dayMs,
  }
  await client.tournaments.create({ body: { id: 'cup-1', leaderboard_id: 'weekly', ...times } })
  await client.tournaments.create({ body: { id: 'cup-2', leaderboard_id: 'sprint', ...times } })
  const open = { params: { id: 'cup-2' }, body: { state: 'registration_open' as const } }
  await client.tournaments.transition(open)
  const far = {
    registration_opens_at_unix_ms: 0,
    registration_closes_at_unix_ms: 1,
    starts_at_unix_ms: Date.UTC(2262, 3, 11),
    ends_at_unix_ms: Number.MAX_SAFE_INTEGER,
  }
  await client.tournaments.create({ body: { id: 'far', leaderboard_id: 'weekly', ...far } })
}

async function seedShop(client: ConsoleClient, accounts: Record<string, string>, nowMs: number) {
  const sold: readonly [string, string, number | undefined][] = [
    ['ana', 'season-pass', nowMs + 30 * dayMs],
    ['ben', 'season-pass', nowMs - dayMs],
    ['cem', 'gems-100', undefined],
  ]
  for (const [index, [name, product_id, subscription_expiry_unix_ms]] of sold.entries()) {
    const said = { transaction_id: `T-${index + 1}`, product_id, subscription_expiry_unix_ms }
    const body = {
      user_id: accounts[name] ?? '',
      store: 'store_a',
      receipt: JSON.stringify(said),
    } as const
    await client.purchases.validate({ body })
  }
}
