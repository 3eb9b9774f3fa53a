import { randomUUID } from 'node:crypto'
import { createPlayer, type Message } from '@guildhall/client'
import { expect, it, vi } from 'vitest'
import { serveForSdk } from './sdk-node.fixture.ts'

/** A script that has every way of answering a client. */
const script = `
guildhall.on_rpc('echo', (ctx, body) => body)
guildhall.on_rpc('whoami', (ctx) => ({ participant: ctx.sender, user_id: ctx.user_id }))
guildhall.on_rpc('fail', () => { throw new Error('broken') })
guildhall.on_rpc('buy', () => guildhall.fail('too dear', { code: 'gold', data: { missing: 2n ** 60n } }))
guildhall.on_rpc('no', () => guildhall.fail('no'))
guildhall.on_message(100, (ctx, body) => guildhall.send(ctx.sender, 101, body))
`

const node = serveForSdk(script)

async function signedIn() {
  const player = createPlayer(node.url)
  const name = `ana-${randomUUID()}`
  const session = await player.signIn.device({ id: name, create: true, username: name })
  return { player, session, name }
}

it('[R-SDK-23] signs in, reads the profile, refreshes and logs out at a real node', async () => {
  const { player, session, name } = await signedIn()
  const { user_id } = session
  expect(await player.account.get()).toMatchObject({ user_id, username: name })
  await player.account.update({ display_name: 'Ana' })
  const renewed = await player.refresh()
  expect(renewed).toMatchObject({ user_id, username: name })
  expect(renewed.token).not.toBe(session.token)
  expect(await player.account.lookup({ user_ids: [user_id] })).toEqual({
    users: [{ user_id, username: name, display_name: 'Ana' }],
  })
  await expect(player.signIn.device({ id: 'nobody' })).rejects.toMatchObject({
    code: 'authentication_failed',
    status: 401,
  })
  await player.logout()
  expect(player.session()).toBe(null)
})

it('[R-SDK-16] [R-RPC-6] a refusal has what the script said, for people and for programs', async () => {
  const { player } = await signedIn()
  const connection = await player.connect()
  const refusalOf = (method: string) => connection.rpc(method).catch((error: unknown) => error)
  expect(await refusalOf('buy')).toMatchObject({
    code: 'rpc_refused',
    message: 'too dear',
    refusal: { code: 'gold', data: { missing: 2n ** 60n } },
  })
  const plain = { code: 'rpc_refused', refusal: { code: 'rpc_failed', data: null } }
  expect(await refusalOf('no')).toMatchObject({ ...plain, message: 'no' })
  expect(await refusalOf('fail')).toMatchObject({ ...plain, message: 'RPC handler error' })
  expect(await refusalOf('rooms.nothing')).toMatchObject({
    ...plain,
    message: 'unknown RPC method',
  })
  await connection.close()
})

it('[R-SDK-23] talks with the script of a real node', async () => {
  const { player, session } = await signedIn()
  const connection = await player.connect({ notices: true })
  const { user_id } = session
  expect(await connection.rpc('whoami')).toEqual({
    participant: connection.participant,
    user_id,
  })
  const big = { exact: 2n ** 60n }
  expect(await connection.rpc('echo', big)).toEqual(big)
  await expect(connection.rpc('fail')).rejects.toMatchObject({ code: 'rpc_refused' })
  await expect(connection.rpc('nothing')).rejects.toMatchObject({ message: 'unknown RPC method' })
  const messages: Message[] = []
  connection.on('message', (message) => messages.push(message))
  const notices: unknown[] = []
  connection.on('notice', (notice) => notices.push(notice))
  connection.send(100, 'back')
  connection.send(150, 'nobody')
  await vi.waitFor(() => expect(messages.map((message) => message.text())).toEqual(['back']))
  await vi.waitFor(() => expect(notices).toMatchObject([{ kind: 150 }]))
  await player.logout()
  expect(connection.state).toBe('closed')
})

it('[R-SDK-8] a session that a newer connection takes over is replaced, not reconnected', async () => {
  const { player, session } = await signedIn()
  const connection = await player.connect()
  const other = createPlayer(node.url, {
    store: { load: () => session, save() {}, clear() {} },
  })
  await other.restore()
  const closed = new Promise((resolve) => connection.on('state', resolve))
  const second = await other.connect()
  expect(await closed).toEqual({ state: 'closed', reason: 'session_replaced', closeCode: 4005 })
  expect(second.state).toBe('open')
  // The player plays here again: the other one ends, and neither comes back by itself.
  const ended = new Promise((resolve) => second.on('state', resolve))
  const third = await player.connect()
  expect(await ended).toMatchObject({ reason: 'session_replaced' })
  expect([connection.state, second.state, third.state]).toEqual(['closed', 'closed', 'open'])
  await third.close()
})

it('[R-SDK-8] two sessions of one account play beside each other', async () => {
  const { player, name } = await signedIn()
  const other = createPlayer(node.url)
  await other.signIn.device({ id: name })
  const [one, two] = [await player.connect(), await other.connect()]
  expect(one.userId).toBe(two.userId)
  expect(await two.rpc('whoami')).toMatchObject({ participant: two.participant })
  expect(await one.rpc('whoami')).toMatchObject({ participant: one.participant })
  await Promise.all([one.close(), two.close()])
})

it('[R-SDK-23] a guest gets in', async () => {
  const guest = await createPlayer(node.url).connect()
  expect([guest.userId, guest.state]).toEqual([null, 'open'])
  await guest.close()
  expect(guest.state).toBe('closed')
})
