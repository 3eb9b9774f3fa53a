import type { GameTypes } from '@guildhall/contract'
import { onTestFinished } from 'vitest'
import { createPlayerOn, type PlayerOptions } from '../player.ts'
import type { Connection, ConnectOptions } from '../realtime/connection-types.ts'
import type { Session } from '../session/session-store.ts'
import { createFakeHost, type FakeHost } from './fake-host.ts'
import { type FakeServer, openFakeServer, type Peer } from './fake-server.ts'

/** A player at a fake server, with a clock of the test's own. */
export type Bench = {
  server: FakeServer
  host: FakeHost
  player: ReturnType<typeof createPlayerOn>
}

export async function openBench(options: PlayerOptions = {}): Promise<Bench> {
  const server = await openFakeServer()
  onTestFinished(() => server.close())
  const host = createFakeHost(options)
  return { server, host, player: createPlayerOn<GameTypes>(host, server.url, options) }
}

/**
 * The same with an open connection; the server's side of it is `peer`. It may be silent for as long
 * as a test likes.
 */
export async function openConnected(
  options: PlayerOptions & { connect?: ConnectOptions; greet?: FakeServer['greet'] } = {},
): Promise<Bench & { connection: Connection; peer: Peer }> {
  const bench = await openBench(options)
  if (options.greet) bench.server.greet = options.greet
  const connecting = bench.player.connect({ idleMs: 0, ...options.connect })
  const peer = await bench.server.connection()
  const connection = await connecting
  onTestFinished(() => connection.close())
  return { ...bench, connection, peer }
}

/** A session that the server of a test takes as `token`. */
export function sessionOf(host: FakeHost, change: Partial<Session> = {}): Session {
  return {
    token: 'token-1',
    refresh_token: 'refresh-1',
    user_id: 'u-1',
    username: 'ana',
    received_at_unix_ms: host.nowMs(),
    ...change,
  }
}

/** The values of an event, as they come. */
export function heard<T>(subscribe: (call: (value: T) => void) => unknown): T[] {
  const values: T[] = []
  subscribe((value) => values.push(value))
  return values
}

/** Lets sockets and promises do what they have to. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
