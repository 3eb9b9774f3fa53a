import { kinds } from '@guildhall/contract'
import { expect, it, onTestFinished, vi } from 'vitest'
import { runtimeHost } from '../host.ts'
import { heard, openConnected, settle } from '../testing/connected.ts'
import type { StateEvent } from './connection-types.ts'

/** Calls of the wrong type, of the wrong size, in the wrong order, twice, and after the end. */

const invalid = expect.objectContaining({ code: 'invalid_argument' })
const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

it.each([
  ['a buffer', new ArrayBuffer(8)],
  ['floats', new Float32Array(2)],
  ['a view', new DataView(new ArrayBuffer(8))],
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['a circle', cyclic],
  ['what throws', { toJSON: () => expect.unreachable() }],
])(
  '[R-SDK-2] [R-SDK-14] a payload is refused before anything is sent: %s',
  async (_name, payload) => {
    const { connection, peer } = await openConnected()
    expect(() => connection.send(100, payload)).toThrow(invalid)
    await expect(connection.rpc('x', payload)).rejects.toEqual(invalid)
    connection.send(100, 'still here')
    expect((await peer.nextOf(100)).body).toHaveLength(10)
  },
)

it.each([Number.NaN, 0, 2, 99, 65_536, 100.5, '100', null])(
  '[R-SDK-14] a kind of the service or of no wire is refused: %s',
  async (kind) => {
    const { connection } = await openConnected()
    expect(() => connection.send(kind as number, 'x')).toThrow(invalid)
  },
)

it.each([undefined, null, 7, 'x'.repeat(129), 'é'.repeat(65)])(
  '[R-SDK-2] a method of the wrong type or size is refused: %s',
  async (method) => {
    const { connection } = await openConnected()
    await expect(connection.rpc(method as string)).rejects.toEqual(invalid)
  },
)

it('[R-SDK-12] everything after the end is refused, and nothing hangs', async () => {
  const { connection, host } = await openConnected()
  await connection.close()
  const closed = expect.objectContaining({ code: 'closed' })
  expect(() => connection.send(100, 'x')).toThrow(closed)
  const calls = [
    connection.rpc('x'),
    connection.rooms.joinOrCreate('x'),
    connection.rooms.list(),
    connection.matchmaker.find(),
    connection.party.status(),
    connection.reconnect(),
  ]
  for (const call of calls) await expect(call).rejects.toEqual(closed)
  await connection.rooms.leave()
  await connection.close()
  connection.on('state', () => expect.unreachable())()
  expect(host.timersWaiting()).toBe(0)
})

it('[R-SDK-12] a listener of open that closes hears nothing of that link', async () => {
  const { connection, peer, host, server } = await openConnected()
  server.greet = (next) => {
    next.send(100, new TextEncoder().encode('early'))
    next.accept()
  }
  const messages = heard((call) => connection.on('message', call))
  connection.on('state', ({ state }) => state === 'open' && connection.close())
  peer.close(1001)
  await vi.waitFor(() => expect(connection.state).toBe('reconnecting'))
  host.advance(250)
  const next = await server.connection()
  expect(await next.closed).toBe(1000)
  expect([connection.state, messages]).toEqual(['closed', []])
})

it('[R-SDK-25] a listener of open that reconnects waits for the next open', async () => {
  const { connection, server } = await openConnected()
  const states = heard<StateEvent>((call) => connection.on('state', call))
  let again: Promise<void> | undefined
  connection.on('state', ({ state }) => {
    if (state !== 'open' || again !== undefined) return
    server.greet = null
    again = connection.reconnect()
  })
  await connection.reconnect()
  await server.connection()
  const isOpen = vi.fn()
  void again?.then(isOpen)
  const third = await server.connection()
  await third.nextOf(kinds.SESSION_OPTIONS.first)
  await settle()
  expect(isOpen).not.toHaveBeenCalled()
  third.accept()
  await again
  expect(states.map(({ state }) => state)).toEqual(['reconnecting', 'open', 'reconnecting', 'open'])
})

it('[R-SDK-9] a time beyond what a runtime can wait is the longest one, not none', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const run = vi.fn()
  const cancel = runtimeHost().startTimer(Number.POSITIVE_INFINITY, run)
  vi.advanceTimersByTime(86_400_000)
  expect(run).not.toHaveBeenCalled()
  cancel()
})
