import { SessionTokens } from '@guildhall/contract'
import type { TestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

/** How many of a kind are under way at the same time, so that they share their statements. */
const crowd = 12
const board = 'season'

/** Asked for by the values of fields, by ranges of an ordered one, and in its order. */
export const rushedIndex = {
  name: 'by_level',
  collection: 'saves',
  fields: ['level', 'hero'],
  ordered: ['level'],
}

type Player = { token: string; refresh_token: string; user_id: string; device: string }
type Node = { api: TestApi; operator: Operator; ask: ScriptCall; players: readonly Player[] }

/** What many players do at the same time, each thing once alone and once in a crowd. */
export async function rush(api: TestApi): Promise<void> {
  const players = await everybody((at) => signUp(api, `device-${at}`))
  const node = { api, operator: await openOperator(api), ask: scriptOf(api), players }
  await signIns(node)
  await profiles(node)
  await wallets(node)
  await objects(node)
  await boards(node)
  await lookups(node)
  await friends(node)
  await groups(node)
  await messages(node)
}

async function signUp({ call }: TestApi, device: string): Promise<Player> {
  const body = { id: device, create: true, username: `name of ${device}` }
  const { body: tokens } = await call('POST', '/v1/auth/device', { body })
  return { ...SessionTokens().parse(tokens), device }
}

async function signIns({ api, players }: Node): Promise<void> {
  await eachOf(players, async ({ device, refresh_token }) => {
    await api.call('POST', '/v1/auth/device', { body: { id: device } })
    await api.call('POST', '/v1/session/refresh', { body: { refresh_token } })
  })
}

async function profiles({ api, ask, players }: Node): Promise<void> {
  await eachOf(players, async ({ device, user_id }) => {
    const { body } = await api.call('POST', '/v1/auth/device', { body: { id: device } })
    const { token } = SessionTokens().parse(body)
    await api.call('GET', '/v1/account', { token })
    await api.call('PATCH', '/v1/account', { token, body: { display_name: device } })
    await api.call('POST', '/v1/users/lookup', { token, body: { user_ids: [user_id] } })
    await ask('accounts.get', user_id)
    await ask('accounts.update', user_id, { display_name: `${device}!` })
  })
}

async function wallets({ operator, ask, players }: Node): Promise<void> {
  await eachOf(players, async ({ user_id }) => {
    await ask('wallet.adjust', user_id, 'gold', 100n)
    await ask('wallet.adjust', user_id, 'gold', 5n, { idempotency_key: 'once' })
    await operator.send('POST', `/accounts/${user_id}/wallet`, { currency: 'gold', delta: 1 })
    await operator.send('GET', `/accounts/${user_id}/wallet`)
    await ask('wallet.get', user_id)
    await ask('wallet.ledger', user_id, { limit: 50 })
  })
}

async function objects({ operator, ask, players }: Node): Promise<void> {
  await eachOf(players, async ({ user_id, device }) => {
    await ask('storage_write', user_id, 'saves', 'slot', { level: 1, hero: device })
    await ask('storage_read', user_id, 'saves', 'slot')
    await ask('storage_list', user_id, 'saves', { limit: 5 })
    await ask('storage_list', user_id, 'saves', { limit: 5, prefix: 's' })
    const { name } = rushedIndex
    await ask('storage_index_query', name, { level: 1 }, { limit: 5 })
    await ask('storage_index_query', name, { level: { gte: 1, lt: 9 } }, { limit: 5 })
    await ask('storage_index_query', name, { hero: device }, { limit: 5, order: '-level' })
    await operator.send('PUT', `/storage/saves/${device}?user_id=${user_id}`, { value: {} })
    await operator.send('GET', `/storage/saves/slot?user_id=${user_id}`)
    await operator.send('GET', `/storage/saves?limit=5`)
  })
}

async function boards({ operator, ask, players }: Node): Promise<void> {
  await operator.send('POST', '/leaderboards', { id: board })
  await eachOf(players, async ({ user_id }) => {
    await ask('leaderboards.submit', board, user_id, 10n)
    await ask('leaderboards.submit', board, user_id, 11n)
    await operator.send('GET', `/leaderboards/${board}/records?limit=10`)
    await ask('leaderboards.get', board, user_id)
    await ask('leaderboards.around', board, user_id, 2, 2)
    await ask('leaderboards.of_users', board, [user_id])
  })
}

/** An account by exactly what it is known by. */
async function lookups({ api, operator, players }: Node): Promise<void> {
  const body = { email: 'ana@example.com', password: 'correct horse', create: true }
  await api.call('POST', '/v1/auth/email', { body })
  await api.call('POST', '/v1/auth/custom', { body: { id: 'custom-1', create: true } })
  await eachOf(players, async ({ device, user_id }) => {
    const username = encodeURIComponent(`name of ${device}`)
    await operator.send('GET', `/accounts?username=${username}`)
    await operator.send('GET', `/accounts?id=${user_id}`)
    await operator.send('GET', `/accounts/${user_id}`)
    await operator.send('GET', `/account-search?device_id=${device}`)
    await operator.send('GET', '/account-search?username_prefix=name')
    await operator.send('GET', '/account-search?username_prefix=name&after=name')
    await operator.send('GET', '/account-search?email=Ana@example.com')
    await operator.send('GET', '/account-search?custom_id=custom-1')
  })
}

async function friends({ ask, operator, players }: Node): Promise<void> {
  const pairs = players.map((player, at) => ({ player, other: players[(at + 1) % crowd] }))
  await eachOf(pairs, async ({ player: { user_id }, other }) => {
    await ask('friends.add', user_id, other?.user_id)
    await ask('friends.list', user_id)
    await operator.send('GET', `/accounts/${user_id}/friends`)
  })
}

async function groups({ ask, operator, players }: Node): Promise<void> {
  const [founder] = players
  const group = { name: 'clan', creator_user_id: founder?.user_id, max_size: 100 }
  const { id } = Object(await ask('groups.create', group))
  await eachOf(players.slice(1), async ({ user_id }) => {
    const member = [id, user_id]
    await ask('groups.add_member', ...member).catch(() => undefined)
    await ask('groups.promote', ...member).catch(() => undefined)
    await ask('groups.get', id)
    await ask('groups.of_user', user_id)
    await ask('groups.list', { limit: 5 })
    await operator.send('GET', `/groups/${id}`)
  })
}

async function messages({ ask, players }: Node): Promise<void> {
  await eachOf(players, async ({ user_id }) => {
    await ask('chat.append', 'lobby', user_id, 'hello')
    await ask('chat.history', 'lobby', { limit: 5 })
    const sent = { user_id, subject: 'a gift', content: {} }
    const { id } = Object(await ask('notifications.send', sent))
    await ask('notifications.list', user_id, { limit: 5 })
    await ask('notifications.mark_read', user_id, id)
  })
}

/** Does it for one player alone, and then for all at the same time. */
async function eachOf<T>(those: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const [first] = those
  if (first !== undefined) await work(first)
  await Promise.all(those.map(work))
}

function everybody<T>(make: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: crowd }, (_, at) => make(at)))
}
