import { SessionTokens } from '@guildhall/contract'
import type { TestApi } from '../../testing/api.ts'
import { type Operator, openOperator } from '../../testing/operator.ts'
import { type ScriptCall, scriptOf } from '../../testing/script-calls.fixture.ts'

/** How many of a kind are under way at the same time, so that they share their statements. */
const crowd = 12
const board = 'season'

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
}

async function signUp({ call }: TestApi, device: string): Promise<Player> {
  const body = { id: device, create: true, username: `name of ${device}` }
  const { body: tokens } = await call('POST', '/v1/auth/device', { body })
  return { ...SessionTokens.parse(tokens), device }
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
    const { token } = SessionTokens.parse(body)
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
    await ask('storage_write', user_id, 'saves', 'slot', { level: 1 })
    await ask('storage_read', user_id, 'saves', 'slot')
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

/** Does it for one player alone, and then for all at the same time. */
async function eachOf(
  players: readonly Player[],
  work: (player: Player) => Promise<void>,
): Promise<void> {
  const [first] = players
  if (first) await work(first)
  await Promise.all(players.map(work))
}

function everybody<T>(make: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: crowd }, (_, at) => make(at)))
}
